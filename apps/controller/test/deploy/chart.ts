// Renders the chart: by `helm template` where there is a helm, else by helm-engine/main.go, which is
// Go's text/template with the function library of Helm.
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@taintmgr/sim-cluster';
import { parseAllDocuments } from 'yaml';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const chart = join(root, 'deploy', 'helm', 'taintmgr');
const source = fileURLToPath(new URL('helm-engine/main.go', import.meta.url));
const engine = join(root, 'node_modules', '.cache', 'taintmgr', 'helm-engine');
/** Where Debian's packages of Go libraries are. */
const goEnvironment = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '' };

/** What is installed. */
export interface Installation {
  /** Name of the release; taintmgr when left out. */
  readonly release?: string;
  /** taintmgr-system when left out. */
  readonly namespace?: string;
  /** What is said beyond values.yaml. */
  readonly values?: object;
}

export type Rendering =
  /** Of templates by their paths; NOTES.txt only where the engine renders. */
  | { readonly kind: 'rendered'; readonly files: ReadonlyMap<string, string> }
  | { readonly kind: 'refused'; readonly message: string };

/** What there is to render with; null: nothing. */
const renderer: 'helm' | 'engine' | null = findRenderer();

/** Why tests that render are skipped; false: they are not, and must not be where CI says so. */
export const skip: string | false =
  renderer === null &&
  process.env.REQUIRE_HELM !== '1' &&
  'there is neither helm nor Go with sprig';

function findRenderer(): 'helm' | 'engine' | null {
  if (runs('helm', 'version')) return 'helm';
  const sprig = existsSync(join(goEnvironment.GOPATH, 'src/github.com/Masterminds/sprig'));
  return sprig && runs('go', 'version') ? 'engine' : null;
}

/** Renders each. Throws where the renderer cannot be built. */
export function renderAll(all: readonly Installation[]): readonly Rendering[] {
  return renderer === 'helm' ? all.map(byHelm) : byEngine(all);
}

function byEngine(all: readonly Installation[]): readonly Rendering[] {
  build();
  const input = all.map(({ release = 'taintmgr', namespace = 'taintmgr-system', values = {} }) => {
    return { release, namespace, values };
  });
  const answers: readonly { readonly files?: object; readonly error?: string }[] = JSON.parse(
    run(engine, [chart], { input: JSON.stringify(input) }),
  );
  return answers.map(({ files, error }) =>
    error === undefined
      ? { kind: 'rendered', files: new Map(Object.entries(files ?? {})) }
      : { kind: 'refused', message: error },
  );
}

/** The objects of a rendering; hooks, which helm applies at other times, left out. */
export function objectsOf(rendering: Rendering): readonly KubeObject[] {
  if (rendering.kind === 'refused') throw new Error(rendering.message);
  const yaml = [...rendering.files].filter(([name]) => name.endsWith('.yaml'));
  return yaml
    .flatMap(([, text]) => parseAllDocuments(text).map((document) => document.toJS()))
    .filter((object) => object !== null && !object.metadata.annotations?.['helm.sh/hook']);
}

/** Built once for each state of its source. */
function build(): void {
  if (existsSync(engine) && statSync(engine).mtimeMs > statSync(source).mtimeMs) return;
  mkdirSync(dirname(engine), { recursive: true });
  // Under a name of its own first: tests run beside one another.
  const built = `${engine}-${process.pid}`;
  run('go', ['build', '-o', built, source], { environment: goEnvironment });
  renameSync(built, engine);
}

function byHelm(one: Installation): Rendering {
  const { release = 'taintmgr', namespace = 'taintmgr-system', values = {} } = one;
  const folder = mkdtempSync(join(tmpdir(), 'taintmgr-chart-'));
  try {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    const out = join(folder, 'out');
    const flags = ['-n', namespace, '-f', file, '--output-dir', out];
    const { status, stdout, stderr } = spawnSync('helm', ['template', release, chart, ...flags], {
      encoding: 'utf8',
    });
    if (status !== 0) return { kind: 'refused', message: stderr };
    const written = [...stdout.matchAll(/^wrote (.*)$/gm)].map(([, path = '']) => path);
    const files = written.map((path) => {
      const name = path.slice(join(out, 'taintmgr').length + 1);
      return [name, readFileSync(path, 'utf8')] as const;
    });
    return { kind: 'rendered', files: new Map(files) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface RunOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

function run(command: string, args: readonly string[], options: RunOptions): string {
  const { input = '', environment = {} } = options;
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...{ input, encoding: 'utf8', maxBuffer: 2 ** 30 },
    env: { ...process.env, ...environment },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function runs(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args).status === 0;
}
