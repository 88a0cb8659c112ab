-- expect: budget
::again:: goto again
