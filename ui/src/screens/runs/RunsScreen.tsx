import { useData } from "../../data/queries";
import type { AboutPage } from "../../data/types";
import { Empty } from "../../parts/Empty";
import { ErrorNote } from "../../parts/ErrorNote";
import { Skeleton } from "../../parts/Skeleton";

/** Screen 1: the runs of the store, newest first. */
export function RunsScreen() {
  const { data, error, isPending, refetch } = useData<AboutPage>("/api/about");
  if (isPending) return <Skeleton />;
  if (error) return <ErrorNote error={error} retry={refetch} />;
  return <Empty title="No runs yet" does={`${data.project}: evaluate an agent, and its run appears here.`} command="proctor eval AGENT EVAL_SET" />;
}
