import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createCertificate } from '@taintmgr/api-server';
import { SettingError } from '../../src/flags/kind.ts';
import { readServerIdentity } from '../../src/server/certificate.ts';
import { folderWith, none, placeOf } from './certificate-files.ts';

describe('a certificate of its own making', () => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const ofFamily = (...families: readonly string[]): readonly string[] =>
    addresses.filter(({ family }) => families.includes(family)).map(({ address }) => address);
  const cases: readonly (readonly [bound: string, reached: readonly string[]])[] = [
    ['0.0.0.0', ofFamily('IPv4', 'IPv6')],
    ['::', ofFamily('IPv4', 'IPv6')],
    ['192.0.2.7', ['192.0.2.7']],
    ['2001:db8::7', ['2001:db8::7', '2001:db8:0:0:0:0:0:7']],
    ['::ffff:192.0.2.7', ['::ffff:c000:207']],
  ];
  for (const [bound, reached] of cases) {
    it(`for ${bound} is the controller’s, and good for whoever comes there`, () => {
      const { cert } = readServerIdentity({ ...none, bindAddress: bound }, placeOf);
      const one = new X509Certificate(cert);
      assert.equal(one.subject, 'CN=taintmgr-controller');
      assert.equal(one.issuer, 'CN=taintmgr-controller-ca');
      for (const host of ['localhost', hostname().toLowerCase()])
        assert.equal(one.checkHost(host), host);
      for (const address of reached) assert.equal(one.checkIP(address), address);
      assert.equal(one.checkIP('198.51.100.1'), undefined);
      assert.equal(one.checkHost('kubernetes'), undefined);
    });
  }
});

describe('certificate files', () => {
  it('that cannot be used are named with their flag', (t) => {
    const { certificate, key } = createCertificate(Date.now());
    const other = createCertificate(Date.now());
    const broken = certificate.replace(/CERTIFICATE-----\n..../, 'CERTIFICATE-----\nAAAA');
    const junk = { empty: '', junk: 'junk', broken };
    const folder = folderWith(t, { crt: certificate, key, other: other.key, ...junk });
    const path = (name: string): string => join(folder, name);
    const cases: readonly (readonly [files: object, start: string])[] = [
      [
        { tlsCertFile: path('empty'), tlsPrivateKeyFile: path('key') },
        'the place of tlsCertFile: got ',
      ],
      [
        { tlsCertFile: path('crt'), tlsPrivateKeyFile: path('empty') },
        'the place of tlsPrivateKeyFile: got ',
      ],
      [{ clientCaFile: path('empty') }, 'the place of clientCaFile: got '],
      [{ clientCaFile: path('junk') }, 'the place of clientCaFile: got '],
      [{ clientCaFile: path('key') }, 'the place of clientCaFile: got '],
      [{ clientCaFile: path('broken') }, 'the place of clientCaFile: got '],
      [
        { tlsCertFile: path('no'), tlsPrivateKeyFile: path('key') },
        'the place of tlsCertFile: got ',
      ],
      [
        { tlsCertFile: path('junk'), tlsPrivateKeyFile: path('key') },
        'the place of tlsCertFile: got ',
      ],
      [
        { tlsCertFile: path('crt'), tlsPrivateKeyFile: path('no') },
        'the place of tlsPrivateKeyFile: got ',
      ],
      [
        { tlsCertFile: path('crt'), tlsPrivateKeyFile: path('other') },
        'the place of tlsPrivateKeyFile: got ',
      ],
      [{ clientCaFile: path('no') }, 'the place of clientCaFile: got '],
    ];
    for (const [files, begin] of cases) {
      assert.throws(
        () => readServerIdentity({ ...none, ...files }, placeOf),
        (error) => {
          assert.ok(error instanceof SettingError);
          assert.ok(error.message.startsWith(begin), error.message);
          return true;
        },
      );
    }
  });
});
