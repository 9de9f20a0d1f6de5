import type { RunPage } from "../../../data/types";
import { moneyText, numText, percentText } from "../../../components/text/numberFormats";
import styles from "./Pictures.module.css";

/** What the models of a run cost, by purpose. */
export function CostPictures({ money }: Pick<RunPage, "money">) {
  const total = money.reduce((sum, { cost }) => sum + (cost ?? 0), 0);
  const tokens = money.reduce((sum, part) => sum + part.tokens, 0);
  const share = (part: RunPage["money"][number]) => (total ? (part.cost ?? 0) / total : tokens ? part.tokens / tokens : 0);
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Purpose</th>
          <th scope="col">{total ? "Share of the cost" : "Share of the tokens"}</th>
          <th scope="col">Cost</th>
          <th scope="col">Calls</th>
          <th scope="col">Tokens</th>
        </tr>
      </thead>
      <tbody>
        {money.map((part) => (
          <tr key={part.purpose}>
            <th scope="row">{part.name}</th>
            <td className={styles.picture}>
              <span className={styles.share}>
                <i style={{ width: `${100 * share(part)}%` }} />
              </span>
              <span className={styles.shareText}>{percentText(share(part), 0)}</span>
            </td>
            <td data-label="cost">{part.cost === null ? part.text : moneyText(part.cost)}</td>
            <td data-label="calls">
              {numText(part.calls)}
              {part.cached > 0 && <span className="dim"> ({numText(part.cached)} cached)</span>}
            </td>
            <td data-label="tokens">{numText(part.tokens)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
