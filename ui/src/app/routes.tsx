import type { ComponentType } from "react";
import { AuditScreen } from "../screens/audit/AuditScreen";
import { AuditedCaseScreen } from "../screens/audit/AuditedCaseScreen";
import { AuditsScreen } from "../screens/audit/AuditsScreen";
import { BlessScreen } from "../screens/bless/BlessScreen";
import { CaseScreen } from "../screens/case/CaseScreen";
import { ChatScreen } from "../screens/chat/ChatScreen";
import { EvalCaseScreen } from "../screens/evalCase/EvalCaseScreen";
import { EvalSetScreen } from "../screens/evalSets/EvalSetScreen";
import { EvalSetsScreen } from "../screens/evalSets/EvalSetsScreen";
import { RunScreen } from "../screens/run/RunScreen";
import { CompareScreen } from "../screens/compare/CompareScreen";
import { HistoryScreen } from "../screens/history/HistoryScreen";
import { MatrixScreen } from "../screens/matrix/MatrixScreen";
import { JudgesScreen } from "../screens/judges/JudgesScreen";
import { LabelScreen } from "../screens/judges/LabelScreen";
import { RunsScreen } from "../screens/runs/RunsScreen";
import { StartScreen } from "../screens/start/StartScreen";

interface ScreenRoute {
  /** wouter's pattern; read `:names` with `useParams()`. */
  path: string;
  Screen: ComponentType;
  /** Needs a server, or a file that has it: hidden in one that has not. */
  live?: boolean;
}

/** One line a screen. The first pattern that fits wins. */
export const SCREENS: readonly ScreenRoute[] = [
  { path: "/runs", Screen: RunsScreen },
  { path: "/compare", Screen: CompareScreen },
  { path: "/matrix", Screen: MatrixScreen },
  { path: "/history", Screen: HistoryScreen, live: true },
  { path: "/runs/:run", Screen: RunScreen },
  { path: "/runs/:run/cases/:position", Screen: CaseScreen },
  { path: "/runs/:run/bless", Screen: BlessScreen, live: true },
  { path: "/audits", Screen: AuditsScreen },
  { path: "/audits/:audit", Screen: AuditScreen },
  { path: "/audits/:audit/cases/:position", Screen: AuditedCaseScreen },
  { path: "/judges", Screen: JudgesScreen, live: true },
  { path: "/judges/:run/:metric", Screen: LabelScreen, live: true },
  { path: "/start", Screen: StartScreen, live: true },
  { path: "/eval-sets", Screen: EvalSetsScreen, live: true },
  { path: "/eval-sets/:set", Screen: EvalSetScreen, live: true },
  { path: "/eval-sets/:set/cases/:case", Screen: EvalCaseScreen, live: true },
  { path: "/chat", Screen: ChatScreen, live: true },
];

export interface NavEntry {
  name: string;
  to: string;
  /** What follows `g` on the keyboard. */
  key: string;
  /** Another path that belongs to it. */
  also?: string;
}

/** The head of every page, in this order. An entry shows as soon as a screen above has its path. */
export const NAV: readonly NavEntry[] = [
  { name: "Runs", to: "/runs", key: "r", also: "/audits" },
  { name: "Eval sets", to: "/eval-sets", key: "e" },
  { name: "Compare", to: "/compare", key: "c" },
  { name: "History", to: "/history", key: "h" },
  { name: "Judges", to: "/judges", key: "j" },
  { name: "Chat", to: "/chat", key: "t" },
  { name: "Start", to: "/start", key: "s" },
];
