"""llama.cpp, as the wheel `xllamacpp` carries it: the engine that needs nothing."""
