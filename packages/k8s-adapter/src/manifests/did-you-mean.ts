// The name that the writer of an unknown name may have meant.
import { distance } from 'fastest-levenshtein';

/** The number of letters that may be wrong, of a third of the word at most. */
const wrongMax = 3;

/** The name that is nearest to a word; null: none is near. Upper and lower case are one. */
export function nearest(word: string, names: readonly string[]): string | null {
  const candidates = names.map((name) => {
    const length = Math.max(word.length, name.length);
    return {
      name,
      wrong: wrongIn(word.toLowerCase(), name.toLowerCase()),
      most: Math.min(wrongMax, Math.floor(length / 3)),
      longer: Math.abs(word.length - name.length),
    };
  });
  const near = candidates.filter(({ wrong, most }) => wrong <= most);
  near.sort((one, other) => one.wrong - other.wrong || one.longer - other.longer);
  return near[0]?.name ?? null;
}

/** The number of letters that are wrong. Two that have changed places, as in `drian`, are one mistake. */
function wrongIn(word: string, name: string): number {
  const swapped = Array.from({ length: Math.max(0, word.length - 1) }, (_, at) => {
    const [one = '', two = ''] = word.slice(at, at + 2);
    return 1 + distance(`${word.slice(0, at)}${two}${one}${word.slice(at + 2)}`, name);
  });
  return Math.min(distance(word, name), ...swapped);
}

/** `, did you mean zone?`, or nothing where no name is near. */
export function didYouMean(word: string, names: readonly string[]): string {
  const name = nearest(word, names);
  return name === null ? '' : `, did you mean ${name}?`;
}
