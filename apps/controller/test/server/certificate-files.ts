import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const bindAddress = '127.0.0.1';
export const none = { bindAddress, tlsCertFile: '', tlsPrivateKeyFile: '', clientCaFile: '' };

export const placeOf = (name: string): string => `the place of ${name}`;

export function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-server-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}
