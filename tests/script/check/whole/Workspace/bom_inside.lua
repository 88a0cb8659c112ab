print("a")
print("﻿")
