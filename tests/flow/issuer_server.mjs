// Two issuers of identities on loopback, for test_issuer.py:
//
//   /oidc            npm's oidc-provider, a real one, with its own forms: whatever name is typed
//                    signs in. Names that begin with "maker" and "chief" are in such groups.
//   /clerk, /api     what Sandlot asks of Clerk: its keys and whether a session is active. Clerk
//                    itself cannot run here; `POST /mint` gives tokens of its form, and `POST /end`
//                    ends a session.
//
//   issuer_server.mjs PORT REDIRECT_URI SECRET ALGORITHM
//
// Keys are made at the start, so a process that is started again has others.
import { createServer } from 'node:http';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';

const [port, redirect, secret, algorithm] = process.argv.slice(2);
const origin = `http://127.0.0.1:${port}`;
const name = (kind) => `${kind}-${process.pid}`;

const pair = await generateKeyPair(algorithm, { extractable: true });
const jwk = { ...await exportJWK(pair.privateKey), kid: name(algorithm), use: 'sig', alg: algorithm };

const groups = (id) => [...(id.startsWith('maker') ? ['makers'] : []), ...(id.startsWith('chief') ? ['chiefs'] : [])];
const provider = new Provider(`${origin}/oidc`, {
    clients: [{
        client_id: 'sandlot', client_secret: secret, redirect_uris: [redirect],
        post_logout_redirect_uris: [redirect.replace('/login/issuer/callback', '/account')],
        grant_types: ['authorization_code'], response_types: ['code'],
        id_token_signed_response_alg: algorithm,
    }],
    enabledJWA: { idTokenSigningAlgValues: [algorithm] },
    jwks: { keys: [jwk] },
    cookies: { keys: ['of the test'] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    findAccount: (context, id) => ({
        accountId: id,
        claims: () => ({ sub: id, preferred_username: id.split('.')[0], groups: groups(id) }),
    }),
    features: { devInteractions: { enabled: true } },
});
provider.proxy = false;
const oidc = provider.callback();

const clerk = await generateKeyPair('RS256', { extractable: true });
const ended = new Set();
let asked = 0;

async function body(request) {
    let text = '';
    for await (const part of request) {
        text += part;
    }
    return JSON.parse(text);
}

async function answer(request) {
    const path = request.url;
    if (path === '/clerk/.well-known/jwks.json') {
        return { keys: [{ ...await exportJWK(clerk.publicKey), kid: name('clerk'), use: 'sig', alg: 'RS256' }] };
    }
    if (path.startsWith('/api/v1/sessions/')) {
        asked += 1;
        if (request.headers.authorization !== 'Bearer sk_test_sesame') {
            return [401, { errors: [] }];
        }
        const id = decodeURIComponent(path.slice('/api/v1/sessions/'.length));
        return { id, user_id: id.replace(/^sess_/, 'user_'), status: ended.has(id) ? 'ended' : 'active' };
    }
    if (path === '/mint') {
        const { sub, seconds = 60, azp, issuer = `${origin}/clerk` } = await body(request);
        return { token: await new SignJWT({ sid: sub.replace(/^user_/, 'sess_'), azp, v: 2, sts: 'active' })
            .setProtectedHeader({ alg: 'RS256', kid: name('clerk'), typ: 'JWT' }).setIssuer(issuer).setSubject(sub)
            .setIssuedAt().setNotBefore('0s').setExpirationTime(`${seconds}s`).sign(clerk.privateKey) };
    }
    if (path === '/end') {
        ended.add((await body(request)).session);
        return {};
    }
    return path === '/asked' ? { asked } : [404, {}];
}

createServer(async (request, response) => {
    if (request.url.startsWith('/oidc/')) {
        request.originalUrl = request.url; // as a framework that mounts it does
        request.url = request.url.slice('/oidc'.length);
        oidc(request, response);
        return;
    }
    const given = await answer(request);
    const [status, json] = Array.isArray(given) ? given : [200, given];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
