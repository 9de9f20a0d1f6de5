import { countText } from "../../components/text/numberFormats";
import { pathOf, useData, useSource } from "../../data/queries";
import type { AuditsPage } from "../../data/types";
import { AvailableLink } from "../../components/forms/AvailableLink";
import { When } from "../../components/text/Num";
import styles from "./Audit.module.css";
import { catchesText } from "./auditText";

/** The newest audits of the eval sets of a run (the same cases and config), or of one eval set: what they catch. */
export function AuditLine({ run, set }: { run?: string; set?: string }) {
  const { live } = useSource();
  const { data } = useData<AuditsPage>(live ? pathOf("/api/audits", { run, set, limit: run ? null : 1 }) : null, { fresh: 60_000 });
  const audits = data?.items ?? [];
  const found = audits.flatMap((audit) => audit.sets.filter(({ eval_set_id }) => set === undefined || eval_set_id === set).map((of) => ({ audit, of })));
  if (!found.length) return null;
  return (
    <p className={`dim small ${set === undefined ? "" : styles.below}`}>
      audit:{" "}
      {found.map(({ audit, of }, index) => (
        <span key={audit.run_id + of.eval_set_id}>
          {index > 0 && "; "}
          {found.length > 1 && `${of.eval_set_id} `}
          <AvailableLink to={`/audits/${encodeURIComponent(audit.run_id)}`}>{catchesText(of)}</AvailableLink>
          {of.passed_by_any > 0 && <span className={styles.bad}>, {countText(of.passed_by_any, "case")} passed by an agent that does nothing</span>}
          {set !== undefined && (
            <>
              , <When at={audit.created_at} />
            </>
          )}
        </span>
      ))}
    </p>
  );
}
