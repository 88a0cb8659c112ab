// An S3 server on loopback for test_s3.py: npm's s3rver. It does not check signatures of version 4, so
// they are checked here first, from the specification: a request that is signed otherwise, or whose
// body has another hash than it says, is refused. Every seventh request fails with 503, as S3 does
// when it is asked to go slower; and a page of a list has 20 objects, as S3 may give fewer than asked for.
// If there is a file FOLDER-lies, it says how many objects that are asked for come back as other bytes.
//
//   node --openssl-legacy-provider s3_server.mjs PORT FOLDER
import { createHash, createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';

import S3rver from 's3rver';

const [port, folder] = process.argv.slice(2);
const KEY = { id: 'S3RVER', secret: 'S3RVER' };
const s3 = new S3rver({ directory: folder, silent: true, configureBuckets: [{ name: 'club' }] });
await s3.configureBuckets();
const pass = s3.callback();

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const hmac = (key, data) => createHmac('sha256', key).update(data).digest();

function signatureOf(request, credential, signed) {
    const [, date, region, service] = credential.split('/');
    const url = new URL(request.url, 'http://x');
    const query = url.search.slice(1).split('&').filter((part) => part !== '')
        .map((part) => part.includes('=') ? part : `${part}=`).sort().join('&');
    const canonical = [request.method, url.pathname, query,
        ...signed.map((name) => `${name}:${(request.headers[name] ?? '').trim()}`), '',
        signed.join(';'), request.headers['x-amz-content-sha256']].join('\n');
    const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], `${date}/${region}/${service}/aws4_request`,
        sha256(canonical)].join('\n');
    const key = ['aws4_request'].reduce(hmac, hmac(hmac(hmac(`AWS4${KEY.secret}`, date), region), service));
    return hmac(key, text).toString('hex');
}

function isSigned(request, body) {
    const found = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
        .exec(request.headers.authorization ?? '');
    if (found === null || !found[1].startsWith(`${KEY.id}/`) ||
        request.headers['x-amz-content-sha256'] !== sha256(body)) {
        return false;
    }
    const signed = found[2].split(';');
    return ['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signed.includes(name)) &&
        signatureOf(request, found[1], signed) === found[3];
}

function lies(request) {
    const path = `${folder}-lies`;
    const left = request.method === 'GET' && !request.url.includes('list-type') && existsSync(path) ?
        Number(readFileSync(path, 'utf8')) : 0;
    if (left > 0) {
        writeFileSync(path, String(left - 1));
    }
    return left > 0;
}

let count = 0;
createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) {
        parts.push(part);
    }
    const body = Buffer.concat(parts);
    count += 1;
    if (!isSigned(request, body) || count % 7 === 0) {
        response.writeHead(count % 7 === 0 ? 503 : 403, { 'content-type': 'application/xml' });
        response.end('<Error/>');
        return;
    }
    if (lies(request)) {
        response.end('other bytes');
        return;
    }
    const again = Object.assign(new PassThrough(), {
        method: request.method, url: request.url.replace('max-keys=1000', 'max-keys=20'), headers: request.headers, rawHeaders: request.rawHeaders,
        socket: request.socket, httpVersion: request.httpVersion, complete: true,
    });
    again.end(body);
    pass(again, response);
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
