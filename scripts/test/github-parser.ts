// GitHub's parser of workflows and actions. Its modules import JSON as no Node does, so it is bundled first.
import { createRequire } from 'node:module';
import { build } from 'esbuild';

/** The modules that read them; the parser of actions is not among what the package offers by name. */
const modules = {
  parseWorkflow: '@actions/workflow-parser',
  parseAction: '../../node_modules/@actions/workflow-parser/dist/actions/action-parser.js',
} as const;

/** Gives what says what is wrong with a workflow or an action, by GitHub's schema; nothing where nothing is. */
export async function githubParser(
  parse: keyof typeof modules,
): Promise<(name: string, content: string) => readonly string[]> {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { NoOperationTraceWriter } from '@actions/workflow-parser';
        import { ${parse} } from '${modules[parse]}';
        export const faults = (name, content) =>
          ${parse}({ name, content }, new NoOperationTraceWriter())
            .context.errors.getErrors().map(({ message }) => message);`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    logLevel: 'silent',
  });
  const bundle = { exports: {} as { faults: (name: string, content: string) => string[] } };
  const load = new Function('module', 'exports', 'require', outputFiles[0]?.text ?? '');
  load(bundle, bundle.exports, createRequire(import.meta.url));
  return bundle.exports.faults;
}
