// `createRequire` of the compiler's files: the modules they ask for are bundled with them.
"use strict";

const inside = "typescript-to-lua/dist/transformation/";
const modules = {
    typescript: () => require("typescript"),
    "typescript-to-lua/dist/transpilation/transpile.js": () => require("typescript-to-lua/dist/transpilation/transpile.js"),
    "typescript-to-lua/dist/LuaPrinter.js": () => require("typescript-to-lua/dist/LuaPrinter.js"),
    "typescript-to-lua/dist/LuaLib.js": () => require("typescript-to-lua/dist/LuaLib.js"),
    "typescript-to-lua/dist/LuaAST.js": () => require("typescript-to-lua/dist/LuaAST.js"),
    [`${inside}visitors/index.js`]: () => require("typescript-to-lua/dist/transformation/visitors/index.js"),
    [`${inside}visitors/identifier.js`]: () => require("typescript-to-lua/dist/transformation/visitors/identifier.js"),
    [`${inside}visitors/loops/utils.js`]: () => require("typescript-to-lua/dist/transformation/visitors/loops/utils.js"),
    [`${inside}visitors/variable-declaration.js`]: () =>
        require("typescript-to-lua/dist/transformation/visitors/variable-declaration.js"),
    [`${inside}utils/diagnostics.js`]: () => require("typescript-to-lua/dist/transformation/utils/diagnostics.js"),
    [`${inside}utils/typescript`]: () => require("typescript-to-lua/dist/transformation/utils/typescript/index.js"),
    [`${inside}utils/lualib.js`]: () => require("typescript-to-lua/dist/transformation/utils/lualib.js"),
    [`${inside}utils/preceding-statements.js`]: () =>
        require("typescript-to-lua/dist/transformation/utils/preceding-statements.js"),
    [`${inside}utils/scope.js`]: () => require("typescript-to-lua/dist/transformation/utils/scope.js"),
};

// Where node_fs.ts has their files.
const places = {
    typescript: "/typescript/lib/typescript.js",
    "typescript-to-lua": "/typescript-to-lua/dist/index.js",
    "@typescript-to-lua/language-extensions/package.json": "/language-extensions/package.json",
};

function find(table, name) {
    if (table[name] === undefined) {
        throw new Error(`the studio's compiler does not have ${name}`);
    }
    return table[name];
}

exports.createRequire = () => Object.assign((name) => find(modules, name)(), { resolve: (name) => find(places, name) });
