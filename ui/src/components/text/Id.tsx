import { Breakable } from "./Breakable";
import { showSpaces } from "./safeText";

/** The id of a case or of an eval set, with its spaces as reports show them. */
export function Id({ text }: { text: string }) {
  return <Breakable text={showSpaces(text)} />;
}
