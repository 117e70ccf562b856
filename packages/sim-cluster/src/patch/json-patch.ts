// JSON Patch (RFC 6902).
import { badRequest, patchDoesNotApply, requestTooLarge } from '../objects/errors.ts';
import { entry, equal, isList, isObject, isShallow, setOwn } from '../objects/json.ts';
import type { Json } from '../objects/kube-object.ts';

const operationsMax = 10_000;
/** The limit for all copies of one patch; without it a short patch makes an endless object. */
const copiedCharactersMax = 3 * 1024 * 1024;

type Container = { [key: string]: Json } | Json[];

/** RFC 6902. Throws ApiError 400 for an invalid patch, the bare 422 for one that does not apply. */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (!isList(patch)) {
    const found = isObject(patch) ? 'object' : typeof patch;
    throw badRequest(
      `error decoding patch: json: cannot unmarshal ${found} into Go value of type []handlers.jsonPatchOp`,
    );
  }
  if (patch.length > operationsMax) {
    throw requestTooLarge(
      `The allowed maximum operations in a JSON patch is ${operationsMax}, got ${patch.length}`,
    );
  }
  let copied = 0;
  let result = structuredClone(document) as Json;
  for (const operation of patch) {
    if (!isObject(operation)) throw patchDoesNotApply();
    if (operation.op === 'copy') {
      const source = read(result, readPointer(operation.from));
      if (!isShallow(source)) throw tooDeep();
      copied += JSON.stringify(source).length;
      if (copied > copiedCharactersMax) throw patchDoesNotApply();
    }
    result = applyOperation(result, operation);
  }
  if (!isShallow(result)) throw tooDeep();
  return result;
}

function tooDeep(): Error {
  return badRequest('error decoding patch: exceeded max depth');
}

function applyOperation(document: Json, operation: { readonly [key: string]: Json }): Json {
  const path = readPointer(operation.path);
  switch (operation.op) {
    case 'add':
      return add(document, path, given(operation.value));
    case 'remove':
      return remove(document, path);
    case 'replace':
      return add(remove(document, path), path, given(operation.value));
    case 'test':
      if (!holds(document, path, given(operation.value))) throw patchDoesNotApply();
      return document;
    case 'copy':
      return add(document, path, structuredClone(read(document, readPointer(operation.from))));
    case 'move': {
      const from = readPointer(operation.from);
      const moved = read(document, from);
      return add(remove(document, from), path, moved);
    }
    default:
      throw patchDoesNotApply();
  }
}

function given(value: Json | undefined): Json {
  if (value === undefined) throw patchDoesNotApply();
  return value;
}

function readPointer(text: Json | undefined): readonly string[] {
  if (typeof text !== 'string' || (text !== '' && !text.startsWith('/'))) {
    throw patchDoesNotApply();
  }
  return text
    .split('/')
    .slice(1)
    .map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
}

function read(document: Json, path: readonly string[]): Json {
  let current: Json | undefined = document;
  for (const part of path) {
    if (isList(current)) current = current[index(part, current.length - 1)];
    else if (isObject(current)) current = entry(current, part);
    else throw patchDoesNotApply();
  }
  return given(current);
}

/** True if a test passes: a missing member is null. */
function holds(document: Json, path: readonly string[], value: Json): boolean {
  const container = path.length > 0 ? holder(document, path) : null;
  const isMissing = isObject(container) && !Object.hasOwn(container, path.at(-1) ?? '');
  return isMissing ? value === null : equal(read(document, path), value);
}

/** The real server counts negative numbers from the end. */
function index(part: string, max: number): number {
  const number = /^-[1-9]\d*$/.test(part) ? max + 1 + Number(part) : Number(part);
  if (!/^-?(0|[1-9]\d*)$/.test(part) || number > max || number < 0) throw patchDoesNotApply();
  return number;
}

/** The list or object that holds the last part of a path; the document is already a copy. */
function holder(document: Json, path: readonly string[]): Container {
  const found = read(document, path.slice(0, -1));
  if (!isList(found) && !isObject(found)) throw patchDoesNotApply();
  return found as Container;
}

function add(document: Json, path: readonly string[], value: Json): Json {
  const last = path.at(-1);
  if (last === undefined) return value;
  const container = holder(document, path);
  if (Array.isArray(container)) {
    container.splice(last === '-' ? container.length : index(last, container.length), 0, value);
  } else setOwn(container, last, value);
  return document;
}

function remove(document: Json, path: readonly string[]): Json {
  const last = path.at(-1);
  if (last === undefined) throw patchDoesNotApply();
  const container = holder(document, path);
  if (Array.isArray(container)) container.splice(index(last, container.length - 1), 1);
  else if (Object.hasOwn(container, last)) delete container[last];
  else throw patchDoesNotApply();
  return document;
}
