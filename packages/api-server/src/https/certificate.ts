// Makes a server's certificate and the authority that signs it.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** The certificate of a server, its key, and the authority that signs it; all PEM. */
export interface Certificate {
  /** The CA certificate that clients must trust. */
  readonly ca: string;
  /** The certificate of the server. */
  readonly certificate: string;
  /** The private key of the server, PKCS #8. */
  readonly key: string;
}

const objectIds = {
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
const digitalSignature = 0x80;
const certificateSign = 0x04;
const crlSign = 0x02;

const hourMs = 3_600_000;
const lifetimeMs = 365 * 24 * hourMs;

/** The subject of a certificate. */
export interface CertificateSubject {
  /** The common name of the server. */
  readonly name: string;
  /** The common name of the authority that vouches for it. */
  readonly authority: string;
  /** DNS names and IP addresses at which it may be reached. */
  readonly hosts: readonly string[];
}

const apiServer: CertificateSubject = {
  name: 'kube-apiserver',
  authority: 'taintmgr simulated cluster CA',
  hosts: ['localhost', '127.0.0.1', '::1'],
};

interface Identity {
  readonly name: Der;
  readonly publicKey: Der;
  readonly privateKey: KeyObject;
}

/**
 * Makes a certificate authority and a server certificate, good for a year from `now` (milliseconds
 * since the epoch; TLS clients check real time). Without a subject it is an API server on this
 * machine: localhost, 127.0.0.1 and ::1.
 */
export function createCertificate(
  now: number,
  subject: CertificateSubject = apiServer,
): Certificate {
  const authority = createIdentity(subject.authority);
  const server = createIdentity(subject.name);
  const { hosts } = subject;
  const { publicKey: ca } = authority;
  const key = server.privateKey.export({ type: 'pkcs8', format: 'pem' });
  return {
    ca: issue(authority, authority, authorityExtensions(ca), now),
    certificate: issue(server, authority, serverExtensions(server.publicKey, ca, hosts), now),
    key: key.toString(),
  };
}

function createIdentity(commonName: string): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    name: sequence(setOf(sequence(objectId(objectIds.commonName), text(commonName)))),
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
  const algorithm = sequence(objectId(objectIds.ecdsaWithSha256));
  const version3 = context(0, integer(Buffer.from([2])), true);
  const serial = integer(Buffer.concat([Buffer.from([1]), randomBytes(15)]));
  const validity = sequence(utcTime(now - hourMs), utcTime(now + lifetimeMs));
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
  const usage = digitalSignature | certificateSign | crlSign;
  return [
    extension(objectIds.basicConstraints, true, sequence(yes())),
    extension(objectIds.keyUsage, true, bits(Buffer.from([usage]), 1)),
    extension(objectIds.subjectKeyIdentifier, false, octets(keyIdentifier(publicKey))),
  ];
}

function serverExtensions(
  publicKey: Der,
  authorityKey: Der,
  hosts: readonly string[],
): readonly Der[] {
  const names = hosts.map((host) =>
    isIP(host) === 0 ? context(2, Buffer.from(host), false) : context(7, addressOf(host), false),
  );
  const issuer = sequence(context(0, keyIdentifier(authorityKey), false));
  return [
    extension(objectIds.basicConstraints, true, sequence()),
    extension(objectIds.keyUsage, true, bits(Buffer.from([digitalSignature]), 7)),
    extension(objectIds.extendedKeyUsage, false, sequence(objectId(objectIds.serverAuth))),
    extension(objectIds.subjectAltName, false, sequence(...names)),
    extension(objectIds.subjectKeyIdentifier, false, octets(keyIdentifier(publicKey))),
    extension(objectIds.authorityKeyIdentifier, false, issuer),
  ];
}

/** The 4 bytes of an IPv4 address, the 16 of an IPv6 address. */
function addressOf(text: string): Buffer {
  if (isIP(text) === 4) return Buffer.from(text.split('.').map(Number));
  // The URL parser knows every way to write one, and gives back groups of hex digits and ::.
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const [before, after] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean));
  const [first, last] = [before ?? [], after ?? []];
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  const groups = [...first, ...zeros, ...last].map((group) => group.padStart(4, '0'));
  return Buffer.from(groups.join(''), 'hex');
}

function pem(label: string, der: Der): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** DER, the encoding of certificates: each value is a tag, a length and its content. */
type Der = Buffer;

function tagged(tag: number, content: Uint8Array): Der {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = Buffer.from(
    length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, '0'),
    'hex',
  );
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content]);
}

/** SEQUENCE. */
function sequence(...items: readonly Der[]): Der {
  return tagged(0x30, Buffer.concat(items));
}

/** SET. */
function setOf(...items: readonly Der[]): Der {
  return tagged(0x31, Buffer.concat(items));
}

/** INTEGER from big-endian bytes of a number that is not negative. */
function integer(bytes: Uint8Array): Der {
  const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return tagged(0x02, positive);
}

/** BOOLEAN TRUE. */
function yes(): Der {
  return tagged(0x01, Buffer.from([0xff]));
}

/** OCTET STRING. */
function octets(content: Uint8Array): Der {
  return tagged(0x04, content);
}

/** BIT STRING; `unused` is the number of bits that do not count in the last byte. */
function bits(content: Uint8Array, unused: number = 0): Der {
  return tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));
}

/** UTF8String. */
function text(value: string): Der {
  return tagged(0x0c, Buffer.from(value));
}

/** A context-specific element, constructed from others or primitive. */
function context(number: number, content: Uint8Array, constructed: boolean): Der {
  return tagged((constructed ? 0xa0 : 0x80) | number, content);
}

/** OBJECT IDENTIFIER from its dotted form. */
function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** UTCTime, good for the years up to 2049. */
function utcTime(milliseconds: number): Der {
  const digits = new Date(milliseconds).toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return tagged(0x17, Buffer.from(`${digits}Z`));
}
