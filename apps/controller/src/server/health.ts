import { type Answer, errorAnswer, type Handler, type Inquiry, textAnswer } from './answer.ts';

/** One health check and its answer. */
export interface Check {
  readonly name: string;
  /** The words for a fault; null: none. */
  readonly fault: () => string | null;
  /** The words people should know though it is well; left out, null: nothing. */
  readonly remark?: () => string | null;
}

/** Told each time a check of an endpoint is looked at. */
export type OnLook = (check: string, endpoint: string, fault: string | null) => void;

interface CheckResult {
  readonly name: string;
  readonly fault: string | null;
  readonly excluded: boolean;
}

/**
 * The handlers of one health endpoint, by path, as kube-apiserver has them: `/readyz` with
 * `?verbose` and `?exclude=NAME`, and each check at `/readyz/NAME`. The former is open to everybody
 * and withholds reasons and remarks, which name nodes, namespaces and policies; the latter gives them.
 */
export function healthHandlers(
  name: string,
  checks: readonly Check[],
  onLook: OnLook,
): ReadonlyMap<string, Handler> {
  const look = ({ name: check, fault }: Check): string | null => {
    const found = fault();
    onLook(check, name, found);
    return found;
  };
  const root: Handler = (inquiry) => {
    const excluded = excludedChecks(inquiry);
    const results = checks.map((check) => {
      const isExcluded = excluded.delete(check.name);
      const fault = isExcluded ? null : look(check);
      return { name: check.name, excluded: isExcluded, fault };
    });
    return answer(name, results, [...excluded], inquiry.query.has('verbose'));
  };
  const single = checks.map((check) => {
    const handler: Handler = () => {
      const fault = look(check);
      if (fault !== null) return errorAnswer(`internal server error: ${fault}`, 500);
      const remark = check.remark?.() ?? null;
      return textAnswer(remark === null ? 'ok' : `ok: ${remark}`);
    };
    return [`/${name}/${check.name}`, handler] as const;
  });
  return new Map([[`/${name}`, root], ...single]);
}

/** `?exclude=a&exclude=b,c` */
function excludedChecks({ query }: Inquiry): Set<string> {
  const names = query.getAll('exclude').flatMap((value) => value.split(','));
  return new Set(names.filter((name) => name !== ''));
}

/** Always in full when something fails. */
function answer(
  name: string,
  results: readonly CheckResult[],
  unmatched: readonly string[],
  verbose: boolean,
): Answer {
  const lines = results.map(line);
  if (unmatched.length > 0) {
    const names = unmatched.map((one) => JSON.stringify(one)).sort();
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names.join(',')}`);
  }
  const failed = results.some(({ fault }) => fault !== null);
  if (failed) return errorAnswer([...lines, `${name} check failed`].join('\n'), 500);
  if (!verbose) return textAnswer('ok');
  return textAnswer([...lines, `${name} check passed`, ''].join('\n'));
}

function line({ name, fault, excluded }: CheckResult): string {
  if (excluded) return `[+]${name} excluded: ok`;
  return fault === null ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
}
