// What a program has in it, as a CycloneDX document: npm's own, with what is bundled and nothing else.
import { createHash } from 'node:crypto';
import type { BundledPackage } from './bundled.ts';
import { run } from './run.ts';

/** A CycloneDX component, as far as it is looked at here. */
interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly object[];
}

interface Dependency {
  readonly ref: string;
  readonly dependsOn?: readonly string[];
}

/** A CycloneDX document, as far as it is looked at here. */
export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
}

/** Which program, and what it is made of. */
export interface Program {
  readonly name: string;
  readonly version: string;
  readonly packages: readonly BundledPackage[];
  /** Of the Node in it; undefined where it has none, as a package. */
  readonly node?: string;
  /** When its sources were committed: RFC 3339. */
  readonly committed: string;
}

/** Everything that is installed, as npm says. */
export function installedSbom(root: string): Sbom {
  return JSON.parse(run(root, 'npm', 'sbom', '--sbom-format=cyclonedx'));
}

/** Of what npm says, the part that is in a program. Throws where npm does not know a package of it. */
export function sbomOf(program: Program, installed: Sbom): Sbom {
  const byKey = new Map(installed.components.map((one) => [keyOf(one), one]));
  const bundled = program.packages.map(
    (one) => byKey.get(keyOf(one)) ?? fail(`npm sbom has no ${keyOf(one)}`),
  );
  const components = [...bundled, ...(program.node ? [nodeOf(program.node)] : [])];
  const refs = new Set(components.map((one) => one['bom-ref']));
  const edges = installed.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((to) => refs.has(to)) }));
  const self = rootOf(program, installed.metadata.component);
  const content = {
    ...installed,
    metadata: { ...installed.metadata, timestamp: program.committed, component: self },
    components,
    dependencies: [{ ref: self['bom-ref'], dependsOn: [...refs].sort() }, ...edges],
  };
  return { ...content, serialNumber: serialNumberOf({ ...content, serialNumber: '' }) };
}

function rootOf({ name, version }: Program, root: Component): Component {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { ...root, 'bom-ref': `${name}@${version}`, name, version, purl };
}

function nodeOf(version: string): Component {
  return {
    'bom-ref': `node@${version}`,
    type: 'platform',
    name: 'node',
    version,
    purl: `pkg:generic/node@${version}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
}

/** The same for the same content, in the form of a UUID (RFC 9562, version 8). */
function serialNumberOf(content: Sbom): string {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  const parts = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  return `urn:uuid:${parts.join('-')}`;
}

function keyOf({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name}@${version}`;
}

function fail(message: string): never {
  throw new Error(message);
}
