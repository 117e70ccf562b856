// An npm registry on the loopback interface, of the tarballs in a folder and nothing else: what npx, bunx and
// deno look for by name, as they look for it on the day after a release.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { list } from 'tar';

export interface Registry {
  /** `http://127.0.0.1:PORT/` */
  readonly url: string;
  stop(): Promise<void>;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
}

export async function startRegistry(folder: string): Promise<Registry> {
  const files = readdirSync(folder).filter((file) => /^taintmgr-.+-\d.*\.tgz$/.test(file));
  const packages = new Map<string, { readonly file: string; readonly manifest: Manifest }>();
  for (const file of files) {
    const manifest = await manifestOf(join(folder, file));
    packages.set(manifest.name, { file, manifest });
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '/').slice(1);
    if (files.includes(path)) {
      response.end(readFileSync(join(folder, path)));
      return;
    }
    const found = packages.get(path);
    response.setHeader('content-type', 'application/json');
    response.statusCode = found ? 200 : 404;
    const host = `http://${request.headers.host}`;
    response.end(JSON.stringify(found ? packumentOf(folder, found, host) : { error: 'not found' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function manifestOf(tarball: string): Promise<Manifest> {
  let text = '';
  await list({
    file: tarball,
    filter: (path) => path === 'package/package.json',
    onReadEntry: (entry) => {
      entry.on('data', (chunk) => {
        text += chunk;
      });
    },
  });
  return JSON.parse(text);
}

/** What registries say of a package: its versions, and where each is. */
function packumentOf(
  folder: string,
  { file, manifest }: { readonly file: string; readonly manifest: Manifest },
  host: string,
): object {
  const { name, version } = manifest;
  const content = readFileSync(join(folder, file));
  const dist = {
    tarball: `${host}/${file}`,
    shasum: createHash('sha1').update(content).digest('hex'),
    integrity: `sha512-${createHash('sha512').update(content).digest('base64')}`,
  };
  const versions = { [version]: { ...manifest, dist } };
  return { name, 'dist-tags': { latest: version }, versions };
}
