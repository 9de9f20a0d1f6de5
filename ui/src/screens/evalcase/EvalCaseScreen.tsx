import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { useTitle } from "../../app/title";
import type { SourceError } from "../../data/source";
import { ErrorNote } from "../../parts/ErrorNote";
import { Skeleton } from "../../parts/Skeleton";
import { idOf } from "../evalsets/address";
import { Editor } from "./Editor";
import { type ReadCase, readCase } from "./caseApi";

/** Screen 9: one case of an eval set, every field of it. */
export function EvalCaseScreen() {
  const { set = "", case: named = "" } = useParams<{ set: string; case: string }>();
  const id = idOf(named);
  useTitle(id || "Case");
  const { data, error, refetch, dataUpdatedAt } = useQuery<ReadCase, SourceError>({
    queryKey: ["exact case", set, id],
    queryFn: ({ signal }) => readCase(set, id, signal),
    staleTime: Infinity, // what is edited does not change under one's hands
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={10} />;
  return <Editor key={`${set}/${id}/${dataUpdatedAt}`} page={data} />;
}
