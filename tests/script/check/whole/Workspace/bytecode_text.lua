#!/usr/bin/lua
print("a")
