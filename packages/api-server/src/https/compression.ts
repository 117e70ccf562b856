// Compresses long answers.
import { createGzip } from 'node:zlib';
import type { Outgoing } from './outgoing.ts';

/** Answers up to this length are sent as they are. */
const plainBytesMax = 128 * 1024;
/** As the real server: quick rather than small. */
const compressionLevel = 1;

/** Whether the client wants this answer compressed if it is long; a watch never is. */
export function wantsGzip(path: string, headers: Readonly<Record<string, string>>): boolean {
  const isWatch = /[?&]watch=(?:1|true)(?:&|$)/.test(path);
  const encodings = (headers['accept-encoding'] ?? '').split(',').map((entry) => entry.trim());
  return !isWatch && encodings.some((entry) => /^gzip(?:;|$)/.test(entry));
}

/** Holds an answer back until it is too long to be sent as it is, or has ended. */
export function compressing(answer: Outgoing): Outgoing {
  const held: (string | Uint8Array)[] = [];
  let heldBytes = 0;
  let first: Parameters<Outgoing['head']> | null = null;
  let gzip: ReturnType<typeof createGzip> | null = null;
  const begin = (): ReturnType<typeof createGzip> => {
    const [status, headers] = first ?? [200, {}];
    const encoded = { 'content-encoding': 'gzip', vary: 'Accept-Encoding, Accept' };
    answer.head(status, { ...headers, ...encoded });
    const stream = createGzip({ level: compressionLevel });
    stream.on('data', (chunk: Uint8Array) => answer.data(chunk));
    stream.on('end', () => answer.end());
    answer.onClose(() => stream.destroy());
    for (const chunk of held.splice(0)) stream.write(chunk);
    return stream;
  };
  return {
    unread: answer.unread,
    closesConnection: answer.closesConnection,
    onClose: answer.onClose,
    drop: answer.drop,
    head: (status, headers) => {
      first = [status, headers];
    },
    data: (chunk) => {
      if (gzip) gzip.write(chunk);
      else {
        held.push(chunk);
        heldBytes += Buffer.byteLength(chunk);
        if (heldBytes > plainBytesMax) gzip = begin();
      }
    },
    end: () => {
      if (gzip) gzip.end();
      else {
        if (first) answer.head(...first);
        for (const chunk of held) answer.data(chunk);
        answer.end();
      }
    },
  };
}
