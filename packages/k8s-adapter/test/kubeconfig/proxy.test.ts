import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { proxyOf } from '../../src/kubeconfig/proxy.ts';

type Environment = Readonly<Record<string, string>>;

const https: Environment = { HTTPS_PROXY: 'http://proxy:3128' };
const except = (names: string): Environment => ({ ...https, NO_PROXY: names });
const used = 'http://proxy:3128';

const cases: readonly [string, string, Environment, string | null][] = [
  ['none is named', 'https://api', {}, null],
  ['the environment names one', 'https://api', https, used],
  ['in small letters', 'https://api', { https_proxy: used }, used],
  ['capitals before small letters', 'https://api', { ...https, https_proxy: 'http://b' }, used],
  ['without a scheme it is http', 'https://api', { HTTPS_PROXY: 'proxy:3128' }, used],
  [
    'with a scheme in capitals',
    'https://api',
    { HTTPS_PROXY: 'SOCKS5://A:1080' },
    'socks5://A:1080',
  ],
  ['plain http has one of its own', 'http://api', https, null],
  ['and it is used', 'http://api', { HTTP_PROXY: used }, used],
  ['this machine is not asked through it', 'https://localhost:6443', https, null],
  ['by no address of its own', 'https://127.1.2.3:6443', https, null],
  ['IPv6 included', 'https://[::1]:6443', https, null],
  ['excepted by name', 'https://api.corp', except('api.corp'), null],
  ['excepted by domain', 'https://api.corp', except('x, corp'), null],
  ['a domain with a dot means what is below it', 'https://corp', except('.corp'), used],
  ['which is excepted', 'https://api.corp', except('.corp'), null],
  ['so is one with a star', 'https://api.corp', except('*.corp'), null],
  ['no domain is excepted that ends alike', 'https://mycorp', except('corp'), used],
  ['everything is excepted', 'https://api', except('*'), null],
  ['excepted by address', 'https://10.0.0.1', except('10.0.0.1'), null],
  ['another address is not', 'https://10.0.0.2', except('10.0.0.1'), used],
  ['excepted by range', 'https://10.1.2.3', except('10.0.0.0/8'), null],
  ['outside the range', 'https://11.1.2.3', except('10.0.0.0/8'), used],
  ['a range is of no concern to names', 'https://api', except('0.0.0.0/0'), used],
  ['a range that is none', 'https://10.1.2.3', except('10.0.0.0/40,nonsense/8'), used],
  ['excepted by an IPv6 range', 'https://[fd00::7]', except('fd00::/8'), null],
  ['excepted by an IPv6 address', 'https://[fd00::7]:6443', except('fd00::7'), null],
  ['excepted with its port', 'https://api:6443', except('api:6443'), null],
  ['another port is not', 'https://api:6443', except('api:443'), used],
  ['the usual port is one too', 'https://api', except('api:443'), null],
  ['excepted by an IPv6 address with its port', 'https://[fd00::7]', except('[fd00::7]:443'), null],
];

describe('the proxy', () => {
  for (const [name, server, env, expected] of cases) {
    it(name, () => assert.equal(proxyOf(cluster({}), server, env), expected));
  }

  it('of the cluster is used before that of the environment, whatever is excepted', () => {
    const entry = cluster({ 'proxy-url': 'socks5://other:1080' });
    assert.equal(proxyOf(entry, 'https://localhost', except('*')), 'socks5://other:1080');
  });

  it('is named where it is wrong', () => {
    const message = 'https_proxy: got "ftp://x", want a URL with http, https or socks5';
    assert.throws(() => proxyOf(cluster({}), 'https://api', { https_proxy: 'ftp://x' }), {
      message,
    });
  });
});

function cluster(fields: Readonly<Record<string, unknown>>) {
  return { place: 'cluster "c"', directory: '.', fields };
}
