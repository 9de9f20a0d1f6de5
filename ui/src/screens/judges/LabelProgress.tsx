import { useChange } from "../../data/queries";
import type { CalibrationPart, FigurePart, LabellingPage } from "../../data/types";
import { IntervalBar } from "../../components/charts/IntervalBar";
import { Button } from "../../components/forms/Button";
import { ErrorNote } from "../../components/feedback/ErrorNote";
import { Term } from "../../components/terms/Term";
import type { TermName } from "../../components/terms/definitions";
import { percentText, scoreText } from "../../components/text/numberFormats";
import { calibrationText } from "./judgesText";
import styles from "./Label.module.css";
import { storedText, wantedText } from "./labelText";

/** What the labels show so far, how many more the aim needs, and the calibration. */
export function LabelProgress({ page }: { page: LabellingPage }) {
  const { run_id, metric, progress, calibration, current } = page;
  const base = `/api/runs/${run_id}/labelling/${encodeURIComponent(metric)}`;
  const change = useChange<CalibrationPart>([`${base}?`, "/api/judges", `/api/runs/${run_id}?`]);
  const can = progress.passes + progress.fails > 0;
  return (
    <div className={`panel ${styles.box}`}>
      <h2>Progress</h2>
      <table className={styles.rates}>
        <thead>
          <tr>
            <th scope="col"><span className="hidden">Figure</span></th>
            <th scope="col">Labels</th>
            <th scope="col">Value, 95 % CI</th>
            <th scope="col">Missing</th>
          </tr>
        </thead>
        <tbody>
          <Rate name="True positive rate (TPR)" term="truePositiveRate" count={`${progress.passes} pass`} figure={progress.tpr} wanted={progress.wanted_passes} />
          <Rate name="True negative rate (TNR)" term="trueNegativeRate" count={`${progress.fails} fail`} figure={progress.tnr} wanted={progress.wanted_fails} />
          <Rate name="Cohen’s kappa" term="kappa" count={String(progress.passes + progress.fails)} figure={progress.kappa} wanted={null} />
        </tbody>
      </table>
      <p>{wantedText(page)}</p>
      <p className="dim small">
        These figures use the labels of held-out cases: half of the cases, drawn by their ids.
        {progress.other_labels > 0 && ` Labels of other cases, which help to improve the judge: ${progress.other_labels}.`}
      </p>
      <div className="row">
        <Button look="first" busy={change.isPending} disabled={current ? "all labels are in the calibration" : !can && "more labels are needed"} onClick={() => change.mutate({ method: "POST", path: `${base}/calibration` })} action="calibrate">
          Calibrate
        </Button>
        <span className="dim small" role="status">{storedText(calibration, current)}</span>
      </div>
      {calibration && <p className={`small ${styles.stored}`}>{calibrationText(calibration)}</p>}
      <ErrorNote error={change.error} />
    </div>
  );
}

function Rate({ name, term, count, figure, wanted }: { name: string; term: TermName; count: string; figure: FigurePart; wanted: number | null }) {
  const text = wanted === null ? scoreText : (value: number | null) => percentText(value);
  const from = wanted === null ? -1 : 0;
  return (
    <tr>
      <th scope="row"><Term name={term}>{name}</Term></th>
      <td className="num">{count}</td>
      <td>
        <span className="num">{text(figure.value)}</span>
        {figure.value !== null && (
          <>
            <IntervalBar value={figure.value} low={figure.low} high={figure.high} from={from} mark={wanted === null ? 0 : null} label={`${name} ${text(figure.value)}, ${count}, 95 % CI: ${text(figure.low)} to ${text(figure.high)}`} />
            <span className="dim small num">{text(figure.low)} to {text(figure.high)}</span>
          </>
        )}
      </td>
      <td className="num">{wanted === null ? "" : wanted ? `about ${wanted}` : "✓ none"}</td>
    </tr>
  );
}
