// Reads what -f names: files, folders, standard input, compressed or not, piece by piece.
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TextDecoder } from 'node:util';
import { constants, createGunzip } from 'node:zlib';
import { fileFault, UsageError } from '@taintmgr/k8s-adapter/command-line';
import { FaultyFile } from '@taintmgr/k8s-adapter/manifests';
import type { ObjectSink } from './found.ts';
import { JsonObjects } from './json-objects.ts';
import { strangerIn } from './strangers.ts';
import { yamlObjects } from './yaml-objects.ts';

/** The name of standard input, as kubectl has it. */
const standardInput = '-';
const endings = /\.(json|ya?ml)(\.gz)?$/;
const chunkBytes = 2 ** 20;
/** A text of YAML is read as a whole, and V8 holds none longer. */
const yamlBytesMax = 2 ** 29 - 24;

/** One file that -f names, or that is in a folder that it names. */
export interface InputFile {
  readonly path: string;
  /** True if the file was found in a folder, where a file may hold something else. */
  readonly isInFolder: boolean;
}

/** The files that a -f names, those of a folder in the order of their names. Throws UsageError. */
export async function filesAt(path: string): Promise<readonly InputFile[]> {
  if (path === standardInput) return [{ path, isInFolder: false }];
  const found = await readable(path, () => stat(path));
  if (!found.isDirectory()) return [{ path, isInFolder: false }];
  const files = await filesIn(path);
  if (files.length > 0) return files;
  throw new UsageError(
    `-f ${path}: no file in it ends in .json, .yaml or .yml, or in .gz after these`,
  );
}

async function filesIn(folder: string): Promise<readonly InputFile[]> {
  const entries = await readable(folder, () => readdir(folder, { withFileTypes: true }));
  const files: InputFile[] = [];
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await filesIn(path)));
    else if (endings.test(entry.name) && (await isRegular(path))) {
      files.push({ path, isInFolder: true });
    }
  }
  return files;
}

/** Pipes and devices may never end. */
async function isRegular(path: string): Promise<boolean> {
  return (await readable(path, () => stat(path))).isFile();
}

async function readable<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw fileFault(`-f ${path}`, error, 'no such file or folder');
  }
}

/** The result of reading a file. */
export interface ReadFile {
  readonly isEmpty: boolean;
  /** Lines between the documents that are nothing known. */
  readonly strangeLines: number;
}

/** Gives the objects of a file, one by one. Throws UsageError and FaultyFile. */
export async function readFileInto({ path }: InputFile, sink: ObjectSink): Promise<ReadFile> {
  const json = new JsonObjects(path, sink);
  let isJson: boolean | null = null;
  let begin: Buffer = Buffer.alloc(0);
  const yaml: Buffer[] = [];
  let yamlBytes = 0;
  for await (const chunk of bytesOf(path)) {
    if (isJson === null) {
      begin = Buffer.concat([begin, chunk]);
      isJson = beginsJson(path, begin);
      if (isJson === true) json.push(withoutMark(begin));
      else if (isJson === false) {
        const stranger = strangerIn(withoutMark(begin).toString('utf8', 0, beforeBytesMax));
        if (stranger !== null) {
          sink.fault(`${path}:1:1: ${stranger}`);
          return { isEmpty: false, strangeLines: 0 };
        }
        yaml.push(begin);
      }
    } else if (isJson) json.push(chunk);
    else {
      yaml.push(chunk);
      yamlBytes += chunk.length;
      if (yamlBytes > yamlBytesMax) {
        throw new FaultyFile([
          `${path}: YAML of more than 512 MiB; want JSON, as kubectl get -o json prints it`,
        ]);
      }
    }
  }
  if (isJson) json.end();
  else if (isJson === false)
    yamlObjects(path, withoutMark(Buffer.concat(yaml)).toString('utf8'), sink);
  return { isEmpty: isJson === null, strangeLines: json.strangeLines };
}

/** Lines that kubectl prints before objects where both of its outputs go into one file. */
const beforeJson = /^(?:\s*(?:Warning: |[IWE]\d{4} |==== START logs ).*\n)*\s*[[{]/;
const beforeBytesMax = 2 ** 16;

/**
 * Tells whether a file is JSON, as opposed to YAML; null: the bytes so far do not show that. Throws
 * UsageError for an archive.
 */
function beginsJson(path: string, bytes: Buffer): boolean | null {
  const archive = archiveOf(bytes);
  if (archive !== null) {
    throw new UsageError(
      `-f ${path}: this is an archive; unpack it, and give its folder: ${archive(path)}`,
    );
  }
  const text = withoutMark(bytes).toString('latin1', 0, beforeBytesMax);
  if (text.trim() === '') return bytes.length > beforeBytesMax ? false : null;
  // A template begins as JSON does.
  return beforeJson.test(text) && !/^\s*\{\{/.test(text);
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** The command that unpacks an archive; null: it is none. */
function archiveOf(bytes: Buffer): ((path: string) => string) | null {
  const begins = (...mark: readonly number[]) => mark.every((byte, at) => bytes[at] === byte);
  if (bytes.toString('latin1', 257, 262) === 'ustar') return unpackTar;
  if (begins(0x50, 0x4b, 3, 4)) return (path) => `unzip ${path} -d dump`;
  if (begins(0x28, 0xb5, 0x2f, 0xfd)) return (path) => `zstd -d ${path}`;
  if (begins(0xfd, 0x37, 0x7a, 0x58)) return (path) => `xz -dk ${path}`;
  return begins(0x42, 0x5a, 0x68) ? (path) => `bzip2 -dk ${path}` : null;
}

function unpackTar(path: string): string {
  return `mkdir dump && tar -xf ${path} -C dump`;
}

/** The bytes of a file, unpacked where gzip has packed them. Throws UsageError and FaultyFile. */
async function* bytesOf(path: string): AsyncGenerator<Buffer> {
  try {
    const bytes = unpacked(path, path === standardInput ? process.stdin : chunksOf(path));
    yield* inUtf8(bytes);
  } catch (error) {
    if (error instanceof UsageError || error instanceof FaultyFile) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (code.startsWith('Z_')) throw new FaultyFile([`${path}: gzip: ${message}`]);
    throw fileFault(`-f ${path}`, error);
  }
}

async function* chunksOf(path: string): AsyncGenerator<Buffer> {
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Text of UTF-16 in UTF-8: PowerShell's > writes it. */
async function* inUtf8(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  for await (const chunk of fromTwo(bytes)) {
    if (decoder === undefined) {
      const encoding = utf16.get(chunk.toString('latin1', 0, 2));
      decoder = encoding === undefined ? null : new TextDecoder(encoding);
    }
    yield decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk;
  }
}

const utf16: ReadonlyMap<string, string> = new Map([
  ['\xff\xfe', 'utf-16le'],
  ['\xfe\xff', 'utf-16be'],
]);

/** The same pieces, of which the first has two bytes or more. */
async function* fromTwo(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let first: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (first === null) yield chunk;
    else {
      first = Buffer.concat([first, chunk]);
      if (first.length < 2) continue;
      yield first;
      first = null;
    }
  }
  if (first !== null) yield first;
}

/** A file that unpacks to more than both is no text of a cluster, and may have no end. */
const unpackedBytesMax = 2 ** 26;
const unpackedTimesMax = 200;

/** Every file that is compressed by gzip begins so, whatever its name is. */
async function* unpacked(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = fromTwo(chunks)[Symbol.asyncIterator]();
  const { value: first = Buffer.alloc(0) } = await iterator.next();
  let packed = 0;
  const all = async function* (): AsyncGenerator<Buffer> {
    try {
      for (let next = first; next; next = (await iterator.next()).value) {
        packed += next.length;
        yield next;
      }
    } finally {
      await iterator.return?.(undefined);
    }
  };
  if (first[0] !== 0x1f || first[1] !== 0x8b) {
    yield* all();
    return;
  }
  const gunzip = createGunzip({ chunkSize: chunkBytes, finishFlush: constants.Z_SYNC_FLUSH });
  const { Readable } = await import('node:stream');
  const source = Readable.from(all());
  source.on('error', (error) => gunzip.destroy(error));
  let bytes = 0;
  for await (const chunk of source.pipe(gunzip)) {
    bytes += (chunk as Buffer).length;
    if (bytes > unpackedBytesMax && bytes > unpackedTimesMax * packed) {
      const size = `more than 64 MiB and ${unpackedTimesMax} times its size`;
      throw new FaultyFile([`${path}: gzip: it unpacks to ${size}, as no list of objects does`]);
    }
    yield chunk as Buffer;
  }
}
