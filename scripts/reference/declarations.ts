// Reads the declarations of a source: signatures with doc comments, without bodies, and the names that they use.
import { type ESTree, parseSync } from 'rolldown/utils';

/** A name that a source declares. */
export interface Declaration {
  readonly name: string;
  /** The word before the name: `function`, `class`, `interface`, `type` or `const`. */
  readonly kind: string;
  /** The text of the doc comment; '' if there is none. */
  readonly comment: string;
  /** The declaration with the comments of its members. */
  readonly code: string;
  /** The members that have no doc comment, by their names. */
  readonly silent: readonly string[];
  /** The types that it names, as they are called in this source. */
  readonly uses: readonly string[];
}

/** A name in another source. */
interface Origin {
  /** The source, as an import writes it. */
  readonly from: string;
  readonly name: string;
}

/** A name that a source exports. `from`: null for a declaration of its own. */
interface Export {
  readonly name: string;
  readonly local: string;
  readonly from: string | null;
  /** The comment above the group of exports; '' above the first. */
  readonly group: string;
}

/** A source, as others see it. */
export interface Module {
  /** The comment at its top. */
  readonly head: string;
  readonly declarations: ReadonlyMap<string, Declaration>;
  readonly imports: ReadonlyMap<string, Origin>;
  readonly exports: readonly Export[];
}

/** The source with its comments, to cut from. */
interface Source {
  readonly text: string;
  readonly comments: readonly Comment[];
}

interface Comment {
  readonly type: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Reads a source. Throws SyntaxError if it does not parse. */
export function readModule(file: string, text: string): Module {
  const { program, comments, errors } = parseSync(file, text);
  const [error] = errors;
  if (error) throw new SyntaxError(`${file}: ${error.message}`);
  const source = { text, comments };
  const declarations = new Map<string, Declaration>();
  for (const node of program.body) {
    for (const one of declarationsOf(source, node)) {
      const known = declarations.get(one.name);
      // After overloads, what carries them out is no signature.
      if (known && isFunction(node)) continue;
      declarations.set(one.name, known ? { ...known, code: `${known.code}\n${one.code}` } : one);
    }
  }
  return {
    head: lineComments(source, 0, program.body.at(0)?.start ?? 0)[0] ?? '',
    declarations,
    imports: new Map(program.body.flatMap(importsOf)),
    exports: exportsOf(source, program.body),
  };
}

function isFunction(statement: ESTree.Node): boolean {
  const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  return node?.type === 'FunctionDeclaration';
}

function importsOf(node: ESTree.Node): readonly (readonly [string, Origin])[] {
  if (node.type !== 'ImportDeclaration') return [];
  return node.specifiers.flatMap((one) =>
    one.type === 'ImportSpecifier'
      ? [[one.local.name, { from: node.source.value, name: nameOf(one.imported) }] as const]
      : [],
  );
}

function exportsOf(source: Source, body: readonly ESTree.Node[]): readonly Export[] {
  const exports: Export[] = [];
  let group = '';
  body.forEach((node, index) => {
    const before = lineComments(source, body[index - 1]?.end ?? 0, node.start);
    // The first comment of a file is about all of it.
    group = before.slice(index === 0 ? 1 : 0).at(-1) ?? group;
    if (node.type !== 'ExportNamedDeclaration') return;
    const from = node.source?.value ?? null;
    for (const { local, exported } of node.specifiers) {
      exports.push({ name: nameOf(exported), local: nameOf(local), from, group });
    }
    for (const { name } of declarationsOf(source, node)) {
      exports.push({ name, local: name, from: null, group });
    }
  });
  return exports;
}

/** The comments of lines between two places, each as one text. */
function lineComments({ text, comments }: Source, start: number, end: number): readonly string[] {
  const blocks: { text: string; end: number }[] = [];
  for (const comment of comments) {
    if (comment.type !== 'Line' || comment.start < start || comment.end > end) continue;
    const last = blocks.at(-1);
    if (last && /^\n *$/.test(text.slice(last.end, comment.start))) {
      last.text += `\n${comment.value.trim()}`;
      last.end = comment.end;
    } else {
      blocks.push({ text: comment.value.trim(), end: comment.end });
    }
  }
  return blocks.map((block) => block.text);
}

function nameOf(node: ESTree.ModuleExportName): string {
  return node.type === 'Literal' ? node.value : node.name;
}

function declarationsOf(source: Source, statement: ESTree.Node): readonly Declaration[] {
  const isExported = statement.type === 'ExportNamedDeclaration';
  const node = isExported ? statement.declaration : statement;
  if (!node) return [];
  const comment = commentBefore(source, statement.start);
  const uses = [...typesIn(node)];
  switch (node.type) {
    case 'TSInterfaceDeclaration': {
      const silent = silentIn(source, node.body.body);
      const { name } = node.id;
      return [{ name, kind: 'interface', comment, code: cut(source, node), silent, uses }];
    }
    case 'TSTypeAliasDeclaration': {
      const { typeAnnotation: type } = node;
      const silent = type.type === 'TSTypeLiteral' ? silentIn(source, type.members) : [];
      const { name } = node.id;
      return [{ name, kind: 'type', comment, code: cut(source, node), silent, uses }];
    }
    case 'FunctionDeclaration':
    case 'TSDeclareFunction': {
      const code = `${cut(source, { ...node, end: node.body?.start ?? node.end })};`;
      const signature = code.replace(/^async /, '').replace(/;+$/, ';');
      const { name = '' } = node.id ?? {};
      return [{ name, kind: 'function', comment, code: signature, silent: [], uses }];
    }
    case 'ClassDeclaration':
      return [{ ...classOf(source, node), comment, uses }];
    case 'VariableDeclaration':
      return node.declarations.flatMap((one) => {
        if (one.id.type !== 'Identifier') return [];
        const { name, typeAnnotation } = one.id;
        const code = `const ${cut(source, typeAnnotation ? one.id : one)};`;
        return [{ name, kind: 'const', comment, code, silent: [], uses }];
      });
    default:
      return [];
  }
}

function cut({ text }: Source, { start, end }: { start: number; end: number }): string {
  return text.slice(start, end).trim();
}

function classOf(
  source: Source,
  node: ESTree.Class,
): Pick<Declaration, 'name' | 'kind' | 'code' | 'silent'> {
  const head = cut(source, { start: node.start, end: node.body.start });
  const members = node.body.body.filter(isPublic);
  const lines = members.map((member) => {
    const comment = docBefore(source, member.start);
    const text = comment === null ? '' : `  ${cut(source, comment)}\n`;
    return `${text}  ${cut(source, { start: member.start, end: endOf(member) })
      .replace(/^((?:static |override )*)async /, '$1')
      .replace(/;?$/, ';')}\n`;
  });
  const silent = silentIn(source, members);
  const { name = '' } = node.id ?? {};
  return { name, kind: 'class', code: `${head} {\n${lines.join('')}}`, silent };
}

function isPublic(member: ESTree.ClassElement): boolean {
  if (member.type === 'StaticBlock' || member.type === 'TSIndexSignature') return false;
  return member.key.type !== 'PrivateIdentifier' && member.accessibility !== 'private';
}

/** The place before the body, or before the value of a field that states its type. */
function endOf(member: ESTree.ClassElement): number {
  if (member.type === 'MethodDefinition') return member.value.body?.start ?? member.end;
  const isField = member.type === 'PropertyDefinition';
  return isField && member.typeAnnotation ? member.typeAnnotation.end : member.end;
}

/** The doc comment that ends where only blanks come before `start`. */
function docBefore({ text, comments }: Source, start: number): Comment | null {
  const found = comments.findLast(({ end }) => end <= start);
  const isDoc = found?.type === 'Block' && found.value.startsWith('*');
  return isDoc && text.slice(found.end, start).trim() === '' ? found : null;
}

function commentBefore(source: Source, start: number): string {
  const { value = '' } = docBefore(source, start) ?? {};
  return value
    .replace(/^\*/, '')
    .replace(/^ *\* ?/gm, '')
    .trim();
}

/** The members without a doc comment; a `kind` that tells alternatives apart needs none. */
function silentIn(
  source: Source,
  members: readonly (ESTree.TSSignature | ESTree.ClassElement)[],
): readonly string[] {
  return members.flatMap((member) => {
    if (!('key' in member) || (member.type === 'MethodDefinition' && member.kind === 'constructor'))
      return [];
    const name = cut(source, member.key);
    const isOverride = 'override' in member && member.override;
    const isSilent = commentBefore(source, member.start) === '';
    return isSilent && !isOverride && !(name === 'kind' && isLiteral(member)) ? [name] : [];
  });
}

function isLiteral(member: ESTree.TSSignature | ESTree.ClassElement): boolean {
  if (!('typeAnnotation' in member) || !member.typeAnnotation) return false;
  return member.typeAnnotation.typeAnnotation?.type === 'TSLiteralType';
}

/** What bodies and values are called in nodes: they are no part of a signature. */
const hidden = new Set(['body:FunctionExpression', 'body:FunctionDeclaration', 'right']);
hidden.add('body:ArrowFunctionExpression').add('init').add('value:PropertyDefinition');

function typesIn(node: unknown, found: Set<string> = new Set()): ReadonlySet<string> {
  if (Array.isArray(node)) {
    for (const one of node) typesIn(one, found);
  } else if (isNode(node)) {
    if (node.type === 'ClassBody' && Array.isArray(node.body)) {
      return typesIn(node.body.filter(isPublic), found);
    }
    const named = node.typeName ?? node.superClass ?? heritageOf(node);
    if (isNode(named) && typeof named.name === 'string') found.add(named.name);
    for (const [key, value] of Object.entries(node)) {
      if (!hidden.has(key) && !hidden.has(`${key}:${node.type}`)) typesIn(value, found);
    }
  }
  return found;
}

function isNode(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function heritageOf({ type, expression }: Readonly<Record<string, unknown>>): unknown {
  return type === 'TSInterfaceHeritage' || type === 'TSClassImplements' ? expression : null;
}
