import { useState } from "react";
import { Link, useParams } from "wouter";
import { useAddress } from "../../app/address";
import { useTitle } from "../../components/text/title";
import { useLabeller } from "../../data/labeller";
import { useData } from "../../data/queries";
import type { LabellingPage } from "../../data/types";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Skeleton } from "../../components/feedback/Skeleton";
import { TextField } from "../../components/forms/Field";
import { Tabs } from "../../components/forms/Tabs";
import { Breakable } from "../../components/text/Breakable";
import { LabelBatch } from "./LabelBatch";
import { LabelProgress } from "./LabelProgress";
import { People } from "./People";
import styles from "./Label.module.css";
import { countText, numText } from "../../components/text/numberFormats";

/** Label the verdicts of a judge, see the progress at once, and calibrate the judge. */
export function LabelScreen() {
  const params = useParams<{ run: string; metric: string }>();
  const [run, metric] = [decodeURIComponent(params.run), decodeURIComponent(params.metric)];
  useTitle(`Label ${metric}`);
  const [name, setName] = useLabeller();
  const base = `/api/runs/${run}/labelling/${encodeURIComponent(metric)}`;
  const { data, error, refetch } = useData<LabellingPage>(`${base}?labeller=${encodeURIComponent(name)}`, { poll: 15_000 });
  if (!data) return error ? <ErrorNote error={error} retry={refetch} /> : <Skeleton rows={6} height="64px" />;
  return (
    <>
      <h1>
        Label verdicts of <Breakable text={metric} />
      </h1>
      <p className="dim">
        {data.model && <code><Breakable text={data.model} /></code>} in run <Link href={`/runs/${run}`}>{run.slice(0, 6)}</Link>: {numText(data.verdicts - data.unlabelled)} of{" "}
        {countText(data.verdicts, "verdict")} labelled. The verdict of the judge is hidden until you have labelled.
      </p>
      <ErrorNote error={error} retry={refetch} />
      <div className={styles.columns}>
        <Labelling page={data} name={name} setName={setName} />
        <aside className={styles.side} aria-label="Progress">
          <LabelProgress page={data} />
          <People page={data} />
        </aside>
      </div>
    </>
  );
}

function Labelling({ page, name, setName }: { page: LabellingPage; name: string; setName: (name: string) => void }) {
  const [query, setQuery] = useAddress();
  const second = query.get("second") === "true";
  const [typed, setTyped] = useState(name);
  const tabs = [
    { id: "new", name: `Without a label (${page.unlabelled})` },
    { id: "second", name: `Labelled by others (${page.to_second})` },
  ];
  return (
    <section aria-label="Verdicts to label" className={styles.main}>
      <form
        className={styles.name}
        onSubmit={(event) => {
          event.preventDefault();
          setName(typed.trim());
          (document.activeElement as HTMLElement | null)?.blur();
        }}
      >
        <TextField
          label="Your name"
          hint="Needed if several people label: each has one label for a verdict."
          value={typed}
          maxLength={100}
          placeholder="without a name"
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => setName(typed.trim())}
        />
      </form>
      <Tabs label="Which verdicts" tabs={tabs} at={second ? "second" : "new"} onChange={(id) => setQuery({ second: id === "second" ? "true" : null })}>
        <LabelBatch key={`${name} ${String(second)}`} page={page} labeller={name} second={second} />
      </Tabs>
    </section>
  );
}
