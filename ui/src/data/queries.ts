import {
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { createContext, useCallback, useContext, useEffect, useSyncExternalStore } from "react";
import { type Answer, HttpSource, type Method, NO_ANSWER, type RequestParts, type Source, SourceError } from "./source";

const SourceContext = createContext<Source>(new HttpSource());

export const SourceProvider = SourceContext.Provider;

/** Where the data comes from; `useSource().live` is false in the one-file report. */
export function useSource(): Source {
  return useContext(SourceContext);
}

export function makeClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { retry: shouldRetry, staleTime: 2_000, refetchInterval: ({ state }) => hasNoAnswer(state) && ASK_AGAIN },
    },
  });
}

const ASK_AGAIN = 3_000; // milliseconds between two requests to a server that does not respond

function hasNoAnswer({ error }: { error: unknown }): boolean {
  return error instanceof SourceError && error.status === 0;
}

/** Ask again only where asking again can help: not what is not there, and not what was asked wrongly. */
function shouldRetry(count: number, error: Error): boolean {
  return error instanceof SourceError && (error.status === 0 || error.status >= 500) && count < 1;
}

interface DataOptions<T> {
  /** Ask again every so many milliseconds (while something runs). */
  poll?: number | false;
  /** Show what the same path answered to another query (a filter, a page) until this one is answered. Default true. */
  keep?: boolean;
  /** How long an answer counts as fresh, in milliseconds; `Infinity` for what never changes. */
  fresh?: number;
  /** Forget the answer when nothing shows it any more; by default it is kept for five minutes. */
  forget?: boolean;
  /** Parses the text of the answer; by default it is JSON. */
  read?: (text: string) => T;
}

/**
 * Read `path` (`/api/...`). `null` reads nothing. One path is read once for all callers:
 * `const { data, error, isPending } = useData<RunPage>(`/api/runs/${run}`)`.
 *
 * A server that does not respond is no `error` of a path: the shell reports it (`useConnection`), and the path is read again.
 */
export function useData<T>(path: string | null, options: DataOptions<T> = {}): UseQueryResult<T, SourceError> {
  const { data, error, ...rest } = useAnswer<T>(path, options);
  return { ...rest, data: data?.body, error: hasNoAnswer({ error }) ? null : error } as UseQueryResult<T, SourceError>;
}

const HEARTBEAT = 5_000; // milliseconds between two requests of an idle page
const PATIENCE = 15_000; // milliseconds after which a server that accepts a request does not respond

const CONNECTION = ["connection"];

/** Whether a server does not respond to what the page reads, and how to try again. An idle page asks regularly. */
export function useConnection(): { lost: boolean; retry: () => void } {
  const source = useSource();
  const client = useQueryClient();
  useQuery({
    queryKey: CONNECTION,
    queryFn: ({ signal }) => expectAnswer(source, signal),
    enabled: source.live,
    initialData: true, // the page came from it: the first request must not delay the content
    retry: false,
    staleTime: Infinity,
    refetchInterval: ({ state }) => (hasNoAnswer(state) ? ASK_AGAIN : HEARTBEAT),
  });
  return { lost: useIsLost(), retry: () => void client.refetchQueries({ type: "active", predicate: ({ state }) => hasNoAnswer(state) }) };
}

function useIsLost(): boolean {
  const cache = useQueryClient().getQueryCache();
  const subscribe = useCallback((changed: () => void) => cache.subscribe(changed), [cache]);
  return useSyncExternalStore(subscribe, () => cache.getAll().some((query) => query.isActive() && hasNoAnswer(query.state)));
}

/** Whether the shell reports an error: that the server does not respond. After such an error the server is asked at once. */
export function useIsReported(error: { status?: number } | null | undefined): boolean {
  const client = useQueryClient();
  const isLost = useIsLost();
  const isUnanswered = error?.status === 0;
  useEffect(() => {
    if (isUnanswered) void client.refetchQueries({ queryKey: CONNECTION });
  }, [isUnanswered, error, client]);
  return isUnanswered && isLost;
}

/** Fail where no answer comes; one that refuses is an answer. */
async function expectAnswer(source: Source, signal: AbortSignal): Promise<true> {
  const limit = AbortSignal.timeout(PATIENCE);
  try {
    await source.get("/api/about", AbortSignal.any([signal, limit]));
  } catch (error) {
    if (limit.aborted || hasNoAnswer({ error })) throw new SourceError(0, NO_ANSWER);
  }
  return true;
}

/** Like `useData`, with the version (`etag`) that a change must name. */
function useAnswer<T>(path: string | null, options: DataOptions<T> = {}): UseQueryResult<Answer<T>, SourceError> {
  const source = useSource();
  const { poll = false, keep = true, fresh, forget = false, read } = options;
  return useQuery<Answer<T>, SourceError>({
    queryKey: [path],
    queryFn: ({ signal }) => timed(() => source.get<T>(path ?? "", signal, read)),
    enabled: path !== null,
    refetchInterval: ({ state }) => {
      if (!source.live) return false;
      if (hasNoAnswer(state)) return ASK_AGAIN;
      return poll !== false && pollInterval(poll, state.data);
    },
    placeholderData: (before, query) => (keep && isSamePath(query?.queryKey[0], path) ? before : undefined),
    ...(forget ? { gcTime: 0 } : {}),
    ...(source.live ? (fresh === undefined ? {} : { staleTime: fresh }) : { staleTime: Infinity }),
  });
}

/** Whether a path has an answer: on a server always, in a file if the file contains it. */
export function useAvailable(): (path: string) => boolean {
  const source = useSource();
  const { data } = useQuery({ queryKey: ["paths"], queryFn: () => source.paths(), enabled: !source.live, staleTime: Infinity });
  return useCallback((path: string) => source.live || (data?.has(path) ?? false), [source.live, data]);
}

const durations = new WeakMap<Answer<unknown>, number>();

async function timed<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  const start = performance.now();
  const answer = await ask();
  durations.set(answer, performance.now() - start);
  return answer;
}

/** What is slow to answer is asked less often: a server is kept busy for a tenth of the time at most. */
function pollInterval(poll: number, answer: Answer<unknown> | undefined): number {
  return Math.max(poll, 10 * ((answer && durations.get(answer)) ?? 0));
}

function isSamePath(before: unknown, path: string | null): boolean {
  return typeof before === "string" && path !== null && before.split("?")[0] === path.split("?")[0];
}

export interface Change extends RequestParts {
  method: Method;
  path: string;
}

/**
 * Change something: `const change = useChange<Label>(["/api/runs/x/cases/3"])`, then
 * `change.mutate({ method: "PUT", path, body })`. Every path that starts with one of `stale` is then read again.
 */
export function useChange<T>(stale: readonly string[] = []): UseMutationResult<Answer<T>, SourceError, Change> {
  const source = useSource();
  const client = useQueryClient();
  return useMutation<Answer<T>, SourceError, Change>({
    mutationFn: ({ method, path, ...parts }) => source.send<T>(method, path, parts),
    onSuccess: () => client.invalidateQueries({ predicate: (query) => isStale(query.queryKey[0], stale) }),
  });
}

function isStale(key: unknown, stale: readonly string[]): boolean {
  return typeof key === "string" && stale.some((path) => key.startsWith(path));
}

/** A path with its query, empty values left out, in the order given: `/api/runs?limit=50`. */
export function pathOf(path: string, query: Record<string, string | number | null | undefined> = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const search = entries.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
  return search ? `${path}?${search}` : path;
}
