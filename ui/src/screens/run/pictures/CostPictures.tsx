import type { RunPage } from "../../../data/types";
import { moneyText, numText, percentText } from "../../../components/text/numberFormats";
import styles from "./Pictures.module.css";

type Part = Pick<RunPage["money"][number], "cost" | "tokens">;

/** What a share is of, and the share of a part: of the cost if any is known, else of the tokens; null: unknown. */
export function sharesOf(money: readonly Part[]): { of: string; part: (part: Part) => number | null } {
  const known = money.flatMap(({ cost }) => cost ?? []);
  const total = known.reduce((sum, cost) => sum + cost, 0);
  if (total) return { of: known.length < money.length ? "Share of the known cost" : "Share of the cost", part: ({ cost }) => (cost === null ? null : cost / total) };
  const tokens = money.reduce((sum, part) => sum + part.tokens, 0);
  return { of: "Share of the tokens", part: (part) => (tokens ? part.tokens / tokens : null) };
}

/** What the models of a run cost, by purpose. */
export function CostPictures({ money }: Pick<RunPage, "money">) {
  const share = sharesOf(money);
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Purpose</th>
          <th scope="col">{share.of}</th>
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
                <i style={{ width: `${100 * (share.part(part) ?? 0)}%` }} />
              </span>
              <span className={styles.shareText}>{percentText(share.part(part))}</span>
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
