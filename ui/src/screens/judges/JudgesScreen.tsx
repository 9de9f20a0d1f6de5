import { Link } from "wouter";
import { useTitle } from "../../components/text/title";
import { useData, useSource } from "../../data/queries";
import type { FigurePart, JudgeRow, KnownJudgesPage } from "../../data/types";
import { Breakable } from "../../components/text/Breakable";
import { LinkButton } from "../../components/forms/Button";
import { CopyLine, CopyMarkdown } from "../../components/text/Copy";
import { Empty } from "../../components/feedback/Empty";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Percent, When } from "../../components/text/Num";
import { Outcome } from "../../components/charts/Outcome";
import { Skeleton } from "../../components/feedback/Skeleton";
import { type Column, Table } from "../../components/tables/Table";
import { numText, scoreText } from "../../components/text/numberFormats";
import { TermText } from "../../components/terms/TermText";
import styles from "./JudgesScreen.module.css";
import { labelPath } from "./labelText";
import { asMarkdown, calibrateCommand, calibrationText, summary, standingTag, nextToCalibrate } from "./judgesText";

/** The LLM judges of the stored runs, with their calibration against human labels. */
export function JudgesScreen() {
  useTitle("Judges");
  const { data, error, refetch } = useData<KnownJudgesPage>("/api/judges", { poll: 30_000 });
  if (data && !data.items.length) return <NoJudges />;
  return (
    <>
      <div className="row">
        <h1>Judges</h1>
        <span className="grow" />
        {data && <CopyMarkdown text={() => asMarkdown(data.items)} />}
      </div>
      <p className={styles.sentence}>{data ? summary(data) : ""}</p>
      <ErrorNote error={error} retry={refetch} />
      {data ? <Judges items={data.items} /> : !error && <Loading />}
    </>
  );
}

function Judges({ items }: { items: readonly JudgeRow[] }) {
  const { live } = useSource();
  const next = nextToCalibrate(items);
  return (
    <>
      <Table label="Judges" rows={items} columns={items.some(({ calibration }) => calibration) ? COLUMNS : COLUMNS.filter(({ id }) => !FIGURES.has(id))} idOf={({ metric, model, prompt }) => `${metric} ${model} ${prompt}`} />
      {next && (
        <>
          <h2>What to do next</h2>
          <p>
            {next.labels
              ? `${next.labels === 1 ? "One labelled verdict" : `${next.labels} labelled verdicts`} in run ${next.last_run?.slice(0, 6)} can calibrate ${next.metric}:`
              : `Label some verdicts of ${next.metric}: one key for each, and the page shows how many more are needed.`}
          </p>
          <div className="row">
            {live && (
              <LinkButton to={labelPath(next.last_run ?? "latest", next.metric)} look="first" action="labelNext">
                Label 20 next
              </LinkButton>
            )}
            <span className="dim">{live ? "or with labels from a file:" : "with labels from a file:"}</span>
            <CopyLine text={calibrateCommand(next)} action="command" />
          </div>
        </>
      )}
    </>
  );
}

/** The columns that are empty until a judge is calibrated. */
const FIGURES: ReadonlySet<string> = new Set(["kappa", "tpr", "tnr", "labels"]);

const COLUMNS: readonly Column<JudgeRow>[] = [
  { id: "metric", head: "Judge", width: "minmax(0, 1.8fr)", cell: (row) => <Name row={row} /> },
  { id: "standing", head: "Calibration", width: "166px", narrow: "146px", cell: (row) => <Standing row={row} /> },
  { id: "kappa", head: "Cohen’s kappa, 95 % CI", term: "kappa", width: "minmax(0, 1fr)", optional: true, cell: ({ calibration }) => <Kappa figure={calibration?.kappa} /> },
  { id: "tpr", head: "True positive rate, 95 % CI", term: "truePositiveRate", width: "142px", align: "end", optional: true, cell: ({ calibration }) => <Part figure={calibration?.tpr} count={calibration?.both_pass} others={calibration?.judge_fails} /> },
  { id: "tnr", head: "True negative rate, 95 % CI", term: "trueNegativeRate", width: "142px", align: "end", optional: true, cell: ({ calibration }) => <Part figure={calibration?.tnr} count={calibration?.both_fail} others={calibration?.judge_passes} /> },
  { id: "labels", head: "Labels", term: "labels", width: "76px", align: "end", optional: true, cell: ({ calibration }) => calibration?.labels ?? "–" },
  { id: "last", head: "Last used", width: "112px", align: "end", optional: true, cell: ({ last_at }) => <When at={last_at} /> },
];

function Name({ row }: { row: JudgeRow }) {
  const { live } = useSource();
  return (
    <>
      <b><Breakable text={row.metric} /></b>
      <span className={styles.under}>
        <code><Breakable text={row.model} /></code> · prompt <code>{row.prompt.slice(0, 8)}</code>
      </span>
      {live && row.last_run && <Link href={labelPath(row.last_run, row.metric)}>label verdicts</Link>}
      {row.calibration && <span className={`${styles.under} ${styles.narrowOnly}`}><TermText text={calibrationText(row.calibration)} /></span>}
    </>
  );
}

function Standing({ row }: { row: JudgeRow }) {
  const [outcome, word] = standingTag(row);
  return (
    <>
      <Outcome outcome={outcome}>{word}</Outcome>
      {row.void.length > 0 && <span className={styles.under}>{row.void.join(", ")}</span>}
    </>
  );
}

function Kappa({ figure }: { figure: FigurePart | undefined }) {
  if (!figure || figure.value === null) return <span className="dim">–</span>;
  return (
    <span className={styles.kappa}>
      <span className="num">{scoreText(figure.value)}</span>
      <IntervalBar value={figure.value} low={figure.low} high={figure.high} from={-1} mark={0} label={`Cohen’s kappa ${scoreText(figure.value)}, 95 % CI: ${scoreText(figure.low)} to ${scoreText(figure.high)}`} />
    </span>
  );
}

/** A rate with its interval, and below it its count: of the labels, those with which the judge agrees. */
function Part({ figure, count = 0, others = 0 }: { figure: FigurePart | undefined; count?: number | undefined; others?: number | undefined }) {
  if (!figure) return <span className="dim">–</span>;
  return (
    <>
      <Percent value={figure.value} low={figure.low} high={figure.high} />
      <span className={styles.under}>
        {numText(count)} of {numText(count + others)}
      </span>
    </>
  );
}

function Loading() {
  return (
    <div className="panel">
      <Skeleton rows={4} height="56px" />
    </div>
  );
}

function NoJudges() {
  return (
    <Empty
      title="No LLM judge was used yet"
      does="Some metrics use an LLM judge. After a run used one, this page shows its agreement with human labels."
      command="proctor metrics"
    />
  );
}
