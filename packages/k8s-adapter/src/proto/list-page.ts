// A page of a list as the API server answers it.
import { asRecord, asText, parseJson } from './json.ts';

interface ListPage {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** '' on the last page. */
  readonly continueToken: string;
}

/** Reads a page; null: it is none. */
export function listPage(body: string): ListPage | null {
  const page = asRecord(parseJson(body));
  const metadata = asRecord(page.metadata);
  const resourceVersion = asText(metadata.resourceVersion);
  // A server written in Go may send null for an empty list.
  const items = page.items ?? [];
  if (resourceVersion === '' || !Array.isArray(items)) return null;
  return { items, resourceVersion, continueToken: asText(metadata.continue) };
}
