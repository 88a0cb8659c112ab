# Writes a C string with the contents of one file:
#   cmake -DINPUT=… -DNAME=name -DOUTPUT=… -P embed_text.cmake
file(READ ${INPUT} content HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" content "${content}")
file(WRITE ${OUTPUT} "extern const char ${NAME}[];\nconst char ${NAME}[] = \"${content}\";\n")
