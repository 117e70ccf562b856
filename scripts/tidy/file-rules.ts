// Rules for single files: their length, no path of one machine, and no I/O, clock or waiting where the core and most of the adapter are.
import { type Fault, sourcesOf, type Tree, withoutComments } from './tree.ts';

interface Rule {
  readonly files: RegExp;
  readonly banned: RegExp;
  readonly why: string;
}

const rules: readonly Rule[] = [
  {
    files: /^packages\/core\/src\//,
    banned: /\b(async|await|Promise|localeCompare|Math\.random|crypto)\b|'node:[^']+'/g,
    why: 'the core is synchronous, deterministic and free of locales',
  },
  {
    files:
      /^packages\/k8s-adapter\/src\/(?!(driver|transport|kubeconfig|client|survey|explain)\/|index\.ts$)/,
    banned:
      /\b(async|await|Promise|set(Timeout|Interval|Immediate)|queueMicrotask|Date\.now|Math\.random|process\.|fetch)\b|'node:[^']+'/g,
    why: 'only driver, transport, kubeconfig, client, survey and explain of the adapter may touch Node',
  },
  {
    files: /^packages\/k8s-adapter\/src\//,
    banned: /'@taintmgr\/(?:sim-cluster|api-server)'/g,
    why: 'the adapter is built without the simulated cluster',
  },
];

export function impure(tree: Tree): readonly Fault[] {
  return sourcesOf(tree).flatMap((file) => {
    const code = withoutComments(tree.read(file));
    return rules.flatMap(({ files, banned, why }) => {
      const words = files.test(file) ? code.matchAll(banned) : [];
      return [...new Set(Array.from(words, ([word]) => word))].map((word) => ({
        file,
        text: `has ${word}: ${why}`,
      }));
    });
  });
}

/** Packages that stand alone, but for the dependencies named. */
const standingAlone: Readonly<Record<string, readonly string[]>> = {
  'packages/core': [],
  'packages/sim-cluster': [],
  'packages/api-server': ['@marcbachmann/cel-js', '@taintmgr/sim-cluster', 're2js'],
};

export function hasDependencies(tree: Tree): readonly Fault[] {
  return Object.entries(standingAlone).flatMap(([folder, allowed]) => {
    const file = `${folder}/package.json`;
    if (!tree.files.includes(file)) return [];
    const { dependencies = {} } = JSON.parse(tree.read(file));
    const unexpected = Object.keys(dependencies).filter((name) => !allowed.includes(name));
    return unexpected.map((name) => ({ file, text: `depends on ${name}` }));
  });
}

const maxLines = 600;

export function tooLong(tree: Tree): readonly Fault[] {
  return sourcesOf(tree).flatMap((file) => {
    const lines = tree.read(file).split('\n').length - 1;
    return lines > maxLines ? [{ file, text: `${lines} lines, at most ${maxLines}` }] : [];
  });
}

/** Home folders name the machine on which a text was written. */
export function namesAMachine(tree: Tree): readonly Fault[] {
  const isProse = /\.(ts|mjs|md|json|yaml|yml)$/;
  return tree.files
    .filter((file) => isProse.test(file) && !file.includes('testdata'))
    .flatMap((file) => {
      const found = /(?:^|[\s"'(=])(\/(?:work|home|root|Users)\/[\w.-]+)/m.exec(tree.read(file));
      return found ? [{ file, text: `names a path of somebody's machine: ${found[1]}` }] : [];
    });
}
