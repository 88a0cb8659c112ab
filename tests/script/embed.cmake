# Writes a C table with the scripts of a folder, so that a program without file access can run them:
#   cmake -DFOLDER=… -DTABLE=name -DOUTPUT=… -P embed.cmake
file(GLOB paths ${FOLDER}/*.lua)
list(SORT paths)
set(text "#include \"tests/script/embedded.h\"\n\nconst EmbeddedScript ${TABLE}[] = {\n")
foreach(path IN LISTS paths)
  get_filename_component(name ${path} NAME_WE)
  # As numbers, because the scripts contain all kinds of characters that would need quoting.
  file(READ ${path} content HEX)
  string(LENGTH "${content}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" content "${content}")
  string(APPEND text "    {\"${name}\", \"${content}\", ${bytes}},\n")
endforeach()
string(APPEND text "    {NULL, NULL, 0},\n};\n")
file(WRITE ${OUTPUT} "${text}")
