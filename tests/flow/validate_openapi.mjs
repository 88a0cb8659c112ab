// Reads an OpenAPI document from standard input and checks it against the schema of its version. Prints
// {"valid","version","errors"}.
import { Validator } from '@seriousme/openapi-schema-validator';
import { readFileSync } from 'node:fs';

const validator = new Validator();
const answer = await validator.validate(JSON.parse(readFileSync(0, 'utf8')));
console.log(JSON.stringify({ valid: answer.valid, version: validator.version, errors: answer.errors ?? [] }));
