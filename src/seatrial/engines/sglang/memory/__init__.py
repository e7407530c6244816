"""The memory plan: what SGLang would size its pools to, computed before it is started. Pure values and functions.

`plan_memory` is the way in; `advise` finds the settings that reach a goal; `compare` holds a plan against a boot.
"""
