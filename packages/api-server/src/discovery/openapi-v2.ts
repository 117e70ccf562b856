// OpenAPI v2, which clients ask for beside v3, or before they knew it. It names no kind here: they leave
// checking to the server then, where without the document they refuse to go on.
import { versionInfo } from './documents.ts';

const binaryType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const info = { title: 'Kubernetes', version: versionInfo.gitVersion } as const;

interface Document {
  readonly type: string;
  readonly body: string | Iterable<Uint8Array>;
}

/** As the header Accept wants it: client-go asks for protobuf. */
export function openApiV2(accept: string): Document {
  if (/com\.github\.proto-openapi\.spec\.v2[@.]v1\.0\+protobuf/.test(accept)) {
    return { type: binaryType, body: [binary()] };
  }
  const document = { swagger: '2.0', info, paths: {}, definitions: {} };
  return { type: 'application/json', body: `${JSON.stringify(document)}\n` };
}

/** `Document` of gnostic: `swagger` is its field 1, `info` 2, with `title` 1 and `version` 2. */
function binary(): Uint8Array {
  const about = Buffer.concat([field(1, info.title), field(2, info.version)]);
  return Buffer.concat([field(1, '2.0'), field(2, about)]);
}

/** What is shorter than 128 bytes. */
function field(number: number, content: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}
