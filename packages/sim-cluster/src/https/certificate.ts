import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import {
  bits,
  context,
  type Der,
  integer,
  objectId,
  octets,
  sequence,
  setOf,
  text,
  utcTime,
  yes,
} from './der.ts';

/** A server's identity and the authority that vouches for it; all PEM. */
export interface Certificate {
  /** What clients must trust. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
} as const;

/** Bits of keyUsage, most significant first. */
const DIGITAL_SIGNATURE = 0x80;
const CERTIFICATE_SIGN = 0x04;
const CRL_SIGN = 0x02;

const HOUR_MS = 3_600_000;
const LIFETIME_MS = 365 * 24 * HOUR_MS;

const DNS_NAMES = ['localhost'] as const;
const IP_ADDRESSES = [
  Buffer.from([127, 0, 0, 1]),
  Buffer.concat([Buffer.alloc(15), Buffer.from([1])]),
] as const;

interface Identity {
  readonly name: Der;
  readonly publicKey: Der;
  readonly privateKey: KeyObject;
}

/**
 * Makes a certificate authority of its own and a server certificate for localhost, 127.0.0.1 and
 * ::1, good for a year from `now` (milliseconds since the epoch; TLS clients check real time).
 */
export function createCertificate(now: number): Certificate {
  const authority = createIdentity('taintmgr simulated cluster CA');
  const server = createIdentity('kube-apiserver');
  const { publicKey: ca } = authority;
  const key = server.privateKey.export({ type: 'pkcs8', format: 'pem' });
  return {
    ca: issue(authority, authority, authorityExtensions(ca), now),
    certificate: issue(server, authority, serverExtensions(server.publicKey, ca), now),
    key: key.toString(),
  };
}

function createIdentity(commonName: string): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    name: sequence(setOf(sequence(objectId(OID.commonName), text(commonName)))),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    privateKey,
  };
}

/** An X.509 v3 certificate for `subject`, signed by `issuer`, as PEM. */
function issue(
  subject: Identity,
  issuer: Identity,
  extensions: readonly Der[],
  now: number,
): string {
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const version3 = context(0, integer(Buffer.from([2])), true);
  const serial = integer(Buffer.concat([Buffer.from([1]), randomBytes(15)]));
  const validity = sequence(utcTime(now - HOUR_MS), utcTime(now + LIFETIME_MS));
  const body = sequence(
    version3,
    serial,
    algorithm,
    issuer.name,
    validity,
    subject.name,
    subject.publicKey,
    context(3, sequence(...extensions), true),
  );
  const signature = sign('sha256', body, issuer.privateKey);
  return pem('CERTIFICATE', sequence(body, algorithm, bits(signature)));
}

function extension(id: string, critical: boolean, content: Der): Der {
  return critical
    ? sequence(objectId(id), yes(), octets(content))
    : sequence(objectId(id), octets(content));
}

/** Identifies a key by a hash of it; any hash will do as long as both ends carry the same. */
function keyIdentifier(publicKey: Der): Buffer {
  return createHash('sha256').update(publicKey).digest().subarray(0, 20);
}

function authorityExtensions(publicKey: Der): readonly Der[] {
  const usage = DIGITAL_SIGNATURE | CERTIFICATE_SIGN | CRL_SIGN;
  return [
    extension(OID.basicConstraints, true, sequence(yes())),
    extension(OID.keyUsage, true, bits(Buffer.from([usage]), 1)),
    extension(OID.subjectKeyIdentifier, false, octets(keyIdentifier(publicKey))),
  ];
}

function serverExtensions(publicKey: Der, authorityKey: Der): readonly Der[] {
  const names = [
    ...DNS_NAMES.map((name) => context(2, Buffer.from(name), false)),
    ...IP_ADDRESSES.map((address) => context(7, address, false)),
  ];
  const issuer = sequence(context(0, keyIdentifier(authorityKey), false));
  return [
    extension(OID.basicConstraints, true, sequence()),
    extension(OID.keyUsage, true, bits(Buffer.from([DIGITAL_SIGNATURE]), 7)),
    extension(OID.extendedKeyUsage, false, sequence(objectId(OID.serverAuth))),
    extension(OID.subjectAltName, false, sequence(...names)),
    extension(OID.subjectKeyIdentifier, false, octets(keyIdentifier(publicKey))),
    extension(OID.authorityKeyIdentifier, false, issuer),
  ];
}

function pem(label: string, der: Der): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
