"""Configuration of the test suite. Its place puts this folder, and so `shared_folder`, on the path."""
