# Writes a C file with the contents of many files: the table template_files of
# server/build/place/template.h.
#   cmake -DROOT=folder -DFILES=templates/every/README.md,places/obby/scene.json,… -DTYPES=folder -DOUTPUT=…
#         -P embed_templates.cmake
# Files are relative to ROOT; the second part of a path is its set. Declarations in the folder TYPES get
# the set `types`, with the package's name before their path.
string(REPLACE "," ";" files "${FILES}")
set(arrays "")
set(rows "")
set(index 0)
macro(embed set path input)
  file(READ "${input}" content HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," content "${content}")
  string(APPEND arrays "static const uint8_t file_${index}[] = {${content}0};\n")
  string(APPEND rows
    "    {\"${set}\", \"${path}\", file_${index}, sizeof file_${index} - 1},\n")
  math(EXPR index "${index} + 1")
endmacro()
foreach(file IN LISTS files)
  string(REGEX MATCH "^[^/]+/([^/]+)/(.+)$" matched "${file}")
  embed("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" "${ROOT}/${file}")
endforeach()
set(package "@typescript-to-lua/language-extensions")
foreach(name index.d.ts package.json)
  if(EXISTS "${TYPES}/${name}")
    embed(types "${package}/${name}" "${TYPES}/${name}")
  endif()
endforeach()
file(WRITE "${OUTPUT}" "#include \"server/build/place/template.h\"\n\n${arrays}\n"
  "const TemplateFile template_files[] = {\n${rows}    {NULL, NULL, NULL, 0}};\n")
