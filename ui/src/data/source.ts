// Where a page's data comes from: a server, or the file that the page itself is in.

export const NO_ANSWER = "The server did not answer.";

/** A request that the server refused, with its message. */
export class SourceError extends Error {
  readonly status: number;
  readonly etag: string | null;
  /** The whole answer of the server, if it is more than a sentence. */
  readonly document: unknown;

  constructor(status: number, detail: string, etag: string | null = null, document: unknown = null) {
    super(detail);
    this.name = "SourceError";
    this.status = status;
    this.etag = etag;
    this.document = document;
  }
}

export interface Answer<T> {
  body: T;
  /** The version of what was read; send it back as `etag` when changing it. */
  etag: string | null;
}

export type Method = "POST" | "PUT" | "PATCH" | "DELETE";

export interface RequestParts {
  body?: unknown;
  /** The version that the change was made from (`If-Match`): answered with 412 if another change came first. */
  etag?: string | null;
  signal?: AbortSignal;
}

export interface Source {
  /** False in the one-file report: screens that need a server hide themselves. */
  readonly live: boolean;
  /** `read` parses the text of the answer; by default it is JSON. */
  get<T>(path: string, signal?: AbortSignal, read?: (text: string) => T): Promise<Answer<T>>;
  /** All that can be asked for; `null`: anything that a server may answer. */
  paths(): Promise<ReadonlySet<string> | null>;
  send<T>(method: Method, path: string, parts?: RequestParts): Promise<Answer<T>>;
}

/** Our own API, on the server that this page came from. Paths begin with `/api/`. */
export class HttpSource implements Source {
  readonly live = true;

  get<T>(path: string, signal?: AbortSignal, read?: (text: string) => T): Promise<Answer<T>> {
    return this.request<T>(path, { ...(signal ? { signal } : {}) }, read);
  }

  paths(): Promise<null> {
    return Promise.resolve(null);
  }

  send<T>(method: Method, path: string, parts: RequestParts = {}): Promise<Answer<T>> {
    const headers: Record<string, string> = {};
    if (parts.body !== undefined) headers["Content-Type"] = "application/json";
    if (parts.etag) headers["If-Match"] = parts.etag;
    return this.request<T>(path, {
      method,
      headers,
      ...(parts.body !== undefined ? { body: JSON.stringify(parts.body) } : {}),
      ...(parts.signal ? { signal: parts.signal } : {}),
    });
  }

  private async request<T>(path: string, init: RequestInit, read = (body: string) => JSON.parse(body) as T): Promise<Answer<T>> {
    const response = await this.fetchResponse(path, init);
    const text = await response.text();
    const etag = response.headers.get("ETag");
    if (!response.ok) throw new SourceError(response.status, detailOf(text, response.status), etag, parseJson(text));
    return { body: text ? read(text) : (null as T), etag };
  }

  private async fetchResponse(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(path, { credentials: "same-origin", ...init });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new SourceError(0, NO_ANSWER);
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function detailOf(text: string, status: number): string {
  try {
    const detail: unknown = (JSON.parse(text) as { detail?: unknown }).detail;
    if (typeof detail === "string") return detail;
    if (Array.isArray(detail)) return detail.map(problemText).join("; ");
  } catch {
    // not ours: a proxy's page, perhaps
  }
  return `The server answered ${status} without a reason.`;
}

/** One of the problems in a 422 of the framework: where, and what. */
function problemText(item: unknown): string {
  const { loc, msg } = (item ?? {}) as { loc?: unknown; msg?: unknown };
  const where = Array.isArray(loc) ? loc.slice(1).join(".") : "";
  return where ? `${where}: ${String(msg)}` : String(msg);
}
