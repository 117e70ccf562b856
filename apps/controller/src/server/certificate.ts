// Not imported from the door of the package, which loads a whole cluster that a server does not need.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { createCertificate } from '@taintmgr/api-server/certificate';
import { SettingError } from '../flags/kind.ts';

/** The server's certificate, and whose client certificates it takes; all PEM. */
export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
  /** '' for none. */
  readonly clientCa: string;
}

/** The paths of the files; '' for none. */
export interface CertificateFiles {
  /** The address of the server, for which a self-signed certificate is made. */
  readonly bindAddress: string;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly clientCaFile: string;
}

const ownNames = { name: 'taintmgr-controller', authority: 'taintmgr-controller-ca' } as const;

/** Where a file is chosen: a flag, or a field of the configuration file. */
type PlaceOf = (name: keyof CertificateFiles) => string;

/**
 * Reads the files; without a certificate it makes one for this machine at the address that is
 * bound, good for a year. Throws SettingError naming the place where the file is chosen.
 */
export function readServerIdentity(files: CertificateFiles, placeOf: PlaceOf): ServerIdentity {
  const clientCa = readClientCa(files, placeOf);
  return { ...(readServing(files, placeOf) ?? ownServing(files)), clientCa };
}

/**
 * Reads the files again, and tells of what cannot be used: that stays as it was. A file may be empty for a
 * moment while another program writes it.
 */
export function renewServerIdentity(
  before: ServerIdentity,
  files: CertificateFiles,
  placeOf: PlaceOf,
  onError: (error: unknown) => void,
): ServerIdentity {
  const orBefore = <T>(read: () => T, was: T): T => {
    try {
      return read();
    } catch (error) {
      onError(error);
      return was;
    }
  };
  const serving = orBefore(() => readServing(files, placeOf), null);
  const clientCa = orBefore(() => readClientCa(files, placeOf), before.clientCa);
  return { ...before, ...serving, clientCa };
}

/** Node trusts all public authorities where it is given none, and takes any text for one. */
function readClientCa({ clientCaFile: file }: CertificateFiles, placeOf: PlaceOf): string {
  const where = placeOf('clientCaFile');
  const pem = readPem(where, file);
  if (file === '') return '';
  const certificates = pem.match(certificateBlock) ?? [];
  // A bundle that is cut off would trust fewer.
  if (certificates.length === 0 || certificates.length < pem.split(certificateBegin).length - 1)
    throw new SettingError(where, file, 'PEM with whole certificates in it');
  for (const one of certificates) {
    checkPem(where, file, () => new X509Certificate(one));
  }
  return certificates.join('\n');
}

const certificateBegin = '-----BEGIN CERTIFICATE-----';
const certificateBlock = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

type Serving = Pick<ServerIdentity, 'cert' | 'key'>;

/** Null: there are no files. */
function readServing(files: CertificateFiles, placeOf: PlaceOf): Serving | null {
  if (files.tlsCertFile === '') return null;
  const pem = (name: keyof CertificateFiles): string => readPem(placeOf(name), files[name]);
  const check = (name: keyof CertificateFiles, parts: SecureContextOptions): void =>
    checkPem(placeOf(name), files[name], () => createSecureContext(parts));
  const [cert, key] = [pem('tlsCertFile'), pem('tlsPrivateKeyFile')];
  check('tlsCertFile', { cert });
  check('tlsPrivateKeyFile', { cert, key });
  return { cert, key };
}

function ownServing({ bindAddress }: CertificateFiles): Serving {
  const subject = { ...ownNames, hosts: boundHosts(bindAddress) };
  const { certificate, ca, key } = createCertificate(Date.now(), subject);
  return { cert: certificate + ca, key };
}

/** By what clients may know the server; every address of this machine where all are bound. */
function boundHosts(bindAddress: string): readonly string[] {
  const bound = isAnyAddress(bindAddress)
    ? Object.values(networkInterfaces())
        .flatMap((addresses) => addresses ?? [])
        .map(({ address }) => address)
    : [bindAddress];
  return [...new Set([hostname().toLowerCase(), 'localhost', ...bound])];
}

function readPem(where: string, file: string): string {
  if (file === '') return '';
  const text = readText(where, file);
  if (text.trim() === '') throw new SettingError(where, file, 'PEM (the file is empty)');
  return text;
}

function readText(where: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such file' : code;
    throw new SettingError(where, file, `a file that can be read (${why})`);
  }
}

function checkPem(where: string, file: string, read: () => unknown): void {
  try {
    read();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingError(where, file, `PEM that goes together (${why})`);
  }
}

/** All addresses of a machine, of both families, as in kube-controller-manager. */
const anyAddress: readonly string[] = ['0.0.0.0', '::'];

/** Tells whether all addresses are meant. */
function isAnyAddress(host: string): boolean {
  return anyAddress.includes(host);
}

/**
 * Listens on an address and port; 0 lets the system choose the port that comes back. Rejects when
 * it cannot. Without a host Node listens on IPv6 and IPv4, and on IPv4 alone where there is no
 * IPv6.
 */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(!isAnyAddress(host) && { host }) }, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
