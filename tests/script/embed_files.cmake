# Writes a C table with all files below a folder, by their paths in it:
#   cmake -DFOLDER=… -DTABLE=name -DOUTPUT=… -P embed_files.cmake
file(GLOB_RECURSE paths RELATIVE ${FOLDER} ${FOLDER}/*)
list(FILTER paths EXCLUDE REGEX "(^|/)[.]sandlot/") # somebody has built it where it is
list(SORT paths)
set(text "#include \"tests/script/embedded.h\"\n\nconst EmbeddedScript ${TABLE}[] = {\n")
foreach(path IN LISTS paths)
  file(READ "${FOLDER}/${path}" content HEX)
  string(LENGTH "${content}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" content "${content}")
  string(HEX "${path}" name)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" name "${name}")
  string(APPEND text "    {\"${name}\", \"${content}\", ${bytes}},\n")
endforeach()
string(APPEND text "    {NULL, NULL, 0},\n};\n")
file(WRITE ${OUTPUT} "${text}")
