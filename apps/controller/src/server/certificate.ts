import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { createCertificate } from '@taintmgr/sim-cluster';
import { SettingError } from '../flags/setting-error.ts';

/** What the server shows of itself, and whose client certificates it takes; all PEM. */
export interface ServerIdentity {
  readonly cert: string;
  readonly key: string;
  /** '' for none. */
  readonly clientCa: string;
}

/** Where they are; '' for none. */
export interface CertificateFiles {
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly clientCaFile: string;
}

/**
 * Reads the files; without a certificate it makes one for localhost, good for a year. Throws
 * SettingError naming the flag.
 */
export function readServerIdentity(files: CertificateFiles): ServerIdentity {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile } = files;
  const clientCa = readPem('--client-ca-file', clientCaFile);
  check('--client-ca-file', clientCaFile, { ca: clientCa || undefined });
  if (tlsCertFile === '') {
    const { certificate, ca, key } = createCertificate(Date.now());
    return { cert: certificate + ca, key, clientCa };
  }
  const cert = readPem('--tls-cert-file', tlsCertFile);
  const key = readPem('--tls-private-key-file', tlsPrivateKeyFile);
  check('--tls-cert-file', tlsCertFile, { cert });
  check('--tls-private-key-file', tlsPrivateKeyFile, { cert, key });
  return { cert, key, clientCa };
}

function readPem(flag: string, file: string): string {
  if (file === '') return '';
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'no such file' : code;
    throw new SettingError(flag, file, `a file that can be read (${why})`);
  }
}

function check(flag: string, file: string, parts: Parameters<typeof createSecureContext>[0]): void {
  try {
    createSecureContext(parts);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SettingError(flag, file, `PEM that goes together (${why})`);
  }
}
