import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { createCertificate } from '@taintmgr/api-server';
import { type Case, load, prod } from './kubeconfig-files.ts';

// Each was tried with kubectl 1.36 too, which takes and refuses the same.

/** A kubeconfig whose user logs in so. */
function as(user: string): Case {
  return { files: { '.kube/config': prod.replace('{token: prod-token}', user), t: 'from-file' } };
}

const group = 'client.authentication.k8s.io';
const exec = (fields: string): string => `{exec: {command: /p, ${fields}}}`;

const refused: readonly (readonly [user: string, why: RegExp])[] = [
  ['{token: a, username: b, password: c}', /more than one way to log in/],
  ['{token: a, password: c}', /more than one way to log in/],
  ['{tokenFile: ../t, username: b}', /more than one way to log in/],
  [exec(`apiVersion: ${group}/v1`), /interactiveMode is missing; want one of Never, IfAvailable/],
  [exec(`apiVersion: ${group}/v1, interactiveMode: Some`), /interactiveMode is none that is known/],
  [exec(`apiVersion: ${group}/v1beta1, interactiveMode: 7`), /interactiveMode is none that is kno/],
  [
    exec(`apiVersion: ${group}/v1alpha1, interactiveMode: Never`),
    /apiVersion is none that is know/,
  ],
  [exec('interactiveMode: Never'), /exec: apiVersion is missing/],
  [
    `{exec: {command: /p, apiVersion: ${group}/v1, interactiveMode: Never}, auth-provider: {name: x}}`,
    /exec and auth-provider exclude each other/,
  ],
  [
    '{auth-provider: {name: corp, config: {a: b}}}',
    /auth-provider: got "corp", want one of azure, gcp/,
  ],
  ['{auth-provider: {config: {a: b}}}', /auth-provider: got "", want one of azure, gcp, oidc/],
  [
    '{client-certificate: a, client-certificate-data: YQ==, client-key-data: YQ==}',
    /client-certificate and client-certificate-data exclude/,
  ],
];

const taken: readonly (readonly [user: string, authorization: string | undefined])[] = [
  ['{token: beside, tokenFile: nowhere}', 'Bearer beside'],
  ['{token: beside, tokenFile: ../t}', 'Bearer from-file'],
  ['{username: b, password: c}', 'Basic Yjpj'],
  [exec(`apiVersion: ${group}/v1beta1`), undefined],
];

describe('of the ways to log in', () => {
  for (const [user, why] of refused) {
    it(`is refused: ${user}`, async (t) => {
      const said = await load(t, as(user));
      assert.equal(typeof said, 'string');
      assert.match(String(said), why);
    });
  }

  it('a user with a token in the file may not be given another way by --token', async (t) => {
    const said = await load(t, { ...as('{username: b}'), options: { token: 'x' } });
    assert.match(String(said), /more than one way to log in/);
  });

  for (const [user, authorization] of taken) {
    it(`is taken: ${user}`, async (t) => {
      const config = await load(t, as(user));
      assert.ok(typeof config !== 'string', String(config));
      if (authorization === undefined) return;
      assert.equal((await config.access.authorize()).headers.Authorization, authorization);
    });
  }

  for (const [type, { privateKey }] of [
    ['of another type', generateKeyPairSync('rsa', { modulusLength: 2048 })],
    ['of another certificate', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
  ] as const) {
    it(`is refused: a certificate with a key ${type}`, async (t) => {
      const { certificate } = createCertificate(Date.now());
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
      const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');
      const user = `{client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)}}`;
      const config = await load(t, as(user));
      assert.ok(typeof config !== 'string', String(config));
      await assert.rejects(
        config.access.authorize(),
        /the client key is not that of the client cert/,
      );
    });
  }

  const noPem = Buffer.from('U0VDUkVU').toString('base64');
  const { certificate: pem, key: pemKey } = createCertificate(Date.now());
  const asData = (text: string | Buffer): string => Buffer.from(text).toString('base64');
  const unusable: readonly (readonly [user: string, why: RegExp])[] = [
    [
      `{client-certificate-data: ${noPem}, client-key-data: ${asData(pemKey)}}`,
      /^no credentials: the client certificate cannot be read \(.*\); want PEM/,
    ],
    [
      `{client-certificate-data: ${asData(pem)}, client-key-data: ${noPem}}`,
      /^no credentials: the client key cannot be read \(.*\); want PEM, and no passphrase/,
    ],
    [
      '{token: "a\\nX-Evil: 1"}',
      /^no credentials: the header Authorization cannot have a line end/,
    ],
    ['{token: a, as: "b\\rc"}', /^no credentials: the header impersonate-user cannot have a line/],
  ];
  for (const [user, why] of unusable) {
    it(`says what is wrong with ${user.replaceAll(/: \w{40,}/g, ': ...')}`, async (t) => {
      const config = await load(t, as(user));
      assert.ok(typeof config !== 'string', String(config));
      await assert.rejects(config.access.authorize(), ({ message }: Error) => {
        assert.match(message, why);
        assert.doesNotMatch(message, /U0VDUkVU|X-Evil/);
        return true;
      });
    });
  }

  for (const nothing of ['# kept for later\n', '---\n', '---\n# nothing\n...\n', 'null\n', ' \n']) {
    it(`says nothing: a first file with ${JSON.stringify(nothing)}`, async (t) => {
      const files = { first: nothing, second: prod };
      const config = await load(t, { files, env: { KUBECONFIG: 'HOME/first:HOME/second' } });
      assert.ok(typeof config !== 'string', String(config));
      assert.equal(config.access.server, 'https://prod:6443');
    });
  }
});
