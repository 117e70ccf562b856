import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../world/fast-check.ts';
import { load } from './kubeconfig-files.ts';

// A secret in every place of a kubeconfig, the environment and the options that holds one, and all
// of it wrong in some way: whatever is said of it, the secret is not.

/** Where a secret stands, as a part of the file; what surrounds it is drawn too. */
const places: Readonly<Record<string, (secret: string) => string>> = {
  token: (secret) => `token: ${secret}`,
  'token in a list': (secret) => `token: [${secret}]`,
  'token in a map': (secret) => `token: {value: ${secret}}`,
  'an alias': (secret) => `token: *${secret}`,
  'a tag': (secret) => `token: !${secret} x`,
  'an unclosed quote': (secret) => `token: "${secret}`,
  password: (secret) => `username: u, password: {p: ${secret}}`,
  username: (secret) => `username: [${secret}]`,
  'client-key-data': (secret) => `client-key-data: ${secret}`,
  'client-key-data, a list': (secret) => `client-key-data: [${secret}]`,
  'client-certificate-data': (secret) => `client-certificate-data: {x: ${secret}}`,
  'auth-provider': (secret) => `auth-provider: {name: no-such, config: {id-token: ${secret}}}`,
  exec: (secret) => `exec: {command: [${secret}], env: [{name: A, value: ${secret}}]}`,
  'env of exec': (secret) => `exec: {command: /no/such, env: [{name: A, value: ${secret}}]}`,
};
const clusters: Readonly<Record<string, (secret: string) => string>> = {
  'user of a server': (secret) => `server: "https://u:${secret}@c"`,
  'user of what is no server': (secret) => `server: "u:${secret}@c"`,
  'query of a server': (secret) => `server: "https://c?token=${secret}"`,
  'user of a proxy': (secret) => `server: "https://c", proxy-url: "ftp://u:${secret}@p"`,
  'user of what is no proxy': (secret) => `server: "https://c", proxy-url: "u:${secret}@p"`,
  'a server that is a list': (secret) => `server: ["https://u:${secret}@c"]`,
  'a CA that is none': (secret) => `server: "https://c", certificate-authority-data: [${secret}]`,
};

function kubeconfig(user: string, cluster: string): string {
  return `current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
`;
}

const secrets = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{11,20}$/).map((text) => `zq${text}qz`);

async function said(t: Parameters<typeof load>[0], given: Parameters<typeof load>[1]) {
  const result = await load(t, given);
  if (typeof result === 'string') return result;
  const { access } = result;
  const login = await access.authorize().then(
    () => '',
    (error: Error) => `${error.message}\n${error.stack}`,
  );
  // The server is told of in the log and by /statusz.
  return `${access.server}\n${login}`;
}

describe('no message has a secret in it', () => {
  for (const [name, user] of Object.entries(places)) {
    it(`that is ${name}`, (t) =>
      fc.assert(
        fc.asyncProperty(secrets, async (secret) => {
          const config = kubeconfig(user(secret), 'server: "https://c"');
          const text = await said(t, { files: { '.kube/config': config } });
          assert.ok(!text.includes(secret), text);
        }),
        { numRuns: 5 },
      ));
  }

  for (const [name, cluster] of Object.entries(clusters)) {
    it(`that is the ${name}`, (t) =>
      fc.assert(
        fc.asyncProperty(secrets, async (secret) => {
          const config = kubeconfig('token: t', cluster(secret));
          const text = await said(t, { files: { '.kube/config': config } });
          assert.ok(!text.includes(secret), text);
        }),
        { numRuns: 5 },
      ));
  }

  it('that is in a proxy variable, or an option', (t) =>
    fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const files = { '.kube/config': kubeconfig('token: t', 'server: "https://c"') };
        const texts = [
          await said(t, { files, env: { HTTPS_PROXY: `ftp://u:${secret}@p` } }),
          await said(t, { files, env: { HTTPS_PROXY: `http://u:${secret}@p:x` } }),
          await said(t, { files, options: { server: `https://u:${secret}@c` } }),
          await said(t, { files, options: { token: `${secret}\n`, as: secret } }),
        ];
        assert.ok(!texts.join('\n').includes(secret), texts.join('\n'));
      }),
      { numRuns: 5 },
    ));
});
