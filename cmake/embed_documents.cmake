# Writes the YAML documents of a file as a C++ list of strings, one each: -DFILE= -DOUTPUT=
cmake_minimum_required(VERSION 3.25)
file(READ ${FILE} body)
string(REPLACE "\n---\n" "\n)yaml\",\nR\"yaml(" body "${body}")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "R\"yaml(@body@)yaml\",\n" @ONLY)
