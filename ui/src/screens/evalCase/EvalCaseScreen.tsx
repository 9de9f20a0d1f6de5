import { useQuery } from "@tanstack/react-query";
import { useParams } from "wouter";
import { useTitle } from "../../components/text/title";
import type { SourceError } from "../../data/source";
import { LinkButton } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { idOf, setAddress } from "../evalSets/links";
import { Editor } from "./Editor";
import { type ReadCase, readCase } from "./editing/evalSetApi";

/** A file that cannot be read can be put right. */
function NotRead({ error, retry, set }: { error: SourceError; retry: () => unknown; set: string }) {
  return (
    <>
      <ErrorNote error={error} retry={retry} />
      {error.status !== 0 && error.status !== 404 && <LinkButton to={`${setAddress(set)}?as=text`} action="edit" does="edit the file as text">Edit the file as text</LinkButton>}
    </>
  );
}

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
  if (!data) return error ? <NotRead error={error} retry={refetch} set={set} /> : <Skeleton rows={10} />;
  return <Editor key={`${set}/${id}/${dataUpdatedAt}`} page={data} />;
}
