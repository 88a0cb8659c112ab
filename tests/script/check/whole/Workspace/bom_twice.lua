﻿print("x")
