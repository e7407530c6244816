"""What runs on the machine that is looked at or changed: standard library only, Python 3.9 or newer.

`seatrial.host.connection` calls it in this process, or sends its source through SSH. So nothing in this package may
import anything from outside of it.
"""
