// Cases go to and from the server as text that keeps every digit, with the version that a change has to name.
import type { CaseChecked, CasePreview, CaseRefusal, CaseSaved, EvalCasePage, EvalSetHead, EvalSetText } from "../../../data/types";
import { NO_ANSWER, SourceError } from "../../../data/source";
import { type Json, isObject, readJson, writeJson } from "./exactJson";

type Refusal = Partial<Omit<CaseRefusal, "theirs">> & { theirs?: Json };

/** A refused request, with the whole answer of the server. */
export class RefusedError extends SourceError {
  readonly refusal: Refusal;

  constructor(status: number, refusal: Refusal) {
    super(status, refusal.detail ?? `The server answered ${status} without a reason.`);
    this.refusal = refusal;
  }
}

export type ReadCase = Omit<EvalCasePage, "value"> & { value: Json };
export type SavedCase = Omit<CaseSaved, "value"> & { value: Json };

export type ReadHead = Omit<EvalSetHead, "value"> & { value: Json };

function casePath(set: string, id: string): string {
  return `/api/eval-sets/${encodeURIComponent(set)}/case?id=${encodeURIComponent(id)}`;
}

export async function readCase(set: string, id: string, signal?: AbortSignal): Promise<ReadCase> {
  return (await ask(casePath(set, id), { ...(signal ? { signal } : {}) })) as unknown as ReadCase;
}

export async function saveCase(set: string, id: string, value: Json, version: string, commentsMayGo = false): Promise<SavedCase> {
  const body = writeJson({ value, comments_may_go: commentsMayGo });
  return (await ask(casePath(set, id), sent("PUT", body, version))) as unknown as SavedCase;
}

export async function addCase(set: string, value: Json): Promise<SavedCase> {
  const path = `/api/eval-sets/${encodeURIComponent(set)}/case`;
  return (await ask(path, sent("POST", writeJson({ value })))) as unknown as SavedCase;
}

export async function previewCase(set: string, id: string, value: Json): Promise<CasePreview> {
  const path = casePath(set, id).replace("/case?", "/case/preview?");
  return (await ask(path, sent("POST", writeJson({ value })))) as unknown as CasePreview;
}

/** The errors of a case while it is edited; nothing is saved. */
export async function checkCase(set: string, id: string, value: Json, signal: AbortSignal): Promise<CaseChecked> {
  const path = casePath(set, id).replace("/case?", "/case/check?");
  return (await ask(path, { ...sent("POST", writeJson({ value })), signal })) as unknown as CaseChecked;
}

/** The keys of a set, without its cases. */
export async function readHead(set: string, signal?: AbortSignal): Promise<ReadHead> {
  return (await ask(headPath(set), { ...(signal ? { signal } : {}) })) as unknown as ReadHead;
}

export async function saveHead(set: string, value: Json, version: string, commentsMayGo: boolean): Promise<ReadHead> {
  const body = writeJson({ value, comments_may_go: commentsMayGo });
  return (await ask(headPath(set), sent("PUT", body, version))) as unknown as ReadHead;
}

export async function previewHead(set: string, value: Json): Promise<CasePreview> {
  return (await ask(`${headPath(set)}/preview`, sent("POST", writeJson({ value })))) as unknown as CasePreview;
}

/** The text of a set's file, readable or not. */
export async function readText(set: string, signal?: AbortSignal): Promise<EvalSetText> {
  return (await ask(textPath(set), signal ? { signal } : {})) as unknown as EvalSetText;
}

export async function saveText(set: string, text: string, version: string, unreadableMayBe: boolean): Promise<EvalSetText> {
  const body = writeJson({ text, unreadable_may_be: unreadableMayBe });
  return (await ask(textPath(set), sent("PUT", body, version))) as unknown as EvalSetText;
}

/** What is wrong with a text; nothing is saved. */
export async function checkText(set: string, text: string, signal: AbortSignal): Promise<EvalSetText> {
  return (await ask(`${textPath(set)}/check`, { ...sent("POST", writeJson({ text })), signal })) as unknown as EvalSetText;
}

function textPath(set: string): string {
  return `/api/eval-sets/${encodeURIComponent(set)}/text`;
}

function headPath(set: string): string {
  return `/api/eval-sets/${encodeURIComponent(set)}/head`;
}

function sent(method: string, body: string, version?: string): RequestInit {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (version) headers["If-Match"] = `"${version}"`;
  return { method, headers, body };
}

async function ask(path: string, init: RequestInit): Promise<Json> {
  const response = await reach(path, init);
  const text = await response.text();
  let read: Json = null;
  try {
    read = readJson(text);
  } catch {
    // a proxy's page, perhaps
  }
  if (!response.ok) throw new RefusedError(response.status, isObject(read) ? (read as unknown as Refusal) : {});
  return read;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { credentials: "same-origin", cache: "no-store", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new SourceError(0, `${NO_ANSWER} Your changes are still here: save them again.`);
  }
}
