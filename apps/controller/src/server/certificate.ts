import { readFileSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
// Not from the door of the package: behind it is a whole cluster, which nobody needs to serve.
import { createCertificate } from '@taintmgr/sim-cluster/certificate';
import { SettingError } from '../flags/setting-error.ts';
import { isAnyAddress } from './listen.ts';

/** The server's certificate, and whose client certificates it takes; all PEM. */
export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
  /** '' for none. */
  readonly clientCa: string;
}

/** Where they are; '' for none. */
export interface CertificateFiles {
  /** Where the server listens: what a certificate of its own making is for. */
  readonly bindAddress: string;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly clientCaFile: string;
}

const ownNames = { name: 'taintmgr-controller', authority: 'taintmgr-controller-ca' } as const;

/**
 * Reads the files; without a certificate it makes one for this machine at the address that is
 * bound, good for a year. Throws SettingError naming the place where the file is chosen.
 */
export function readServerIdentity(
  files: CertificateFiles,
  placeOf: (name: keyof CertificateFiles) => string,
): ServerIdentity {
  const { tlsCertFile } = files;
  const pem = (name: keyof CertificateFiles): string => readPem(placeOf(name), files[name]);
  const check = (name: keyof CertificateFiles, parts: SecureContextOptions): void =>
    checkPem(placeOf(name), files[name], parts);
  const clientCa = pem('clientCaFile');
  check('clientCaFile', clientCa === '' ? {} : { ca: clientCa });
  if (tlsCertFile === '') {
    const subject = { ...ownNames, hosts: boundHosts(files.bindAddress) };
    const { certificate, ca, key } = createCertificate(Date.now(), subject);
    return { cert: certificate + ca, key, clientCa };
  }
  const [cert, key] = [pem('tlsCertFile'), pem('tlsPrivateKeyFile')];
  check('tlsCertFile', { cert });
  check('tlsPrivateKeyFile', { cert, key });
  return { cert, key, clientCa };
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
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such file' : code;
    throw new SettingError(where, file, `a file that can be read (${why})`);
  }
}

function checkPem(where: string, file: string, parts: SecureContextOptions): void {
  try {
    createSecureContext(parts);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingError(where, file, `PEM that goes together (${why})`);
  }
}
