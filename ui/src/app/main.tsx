import { createRoot } from "react-dom/client";
import "../styles/tokens.css";
import "../styles/base.css";
import "../styles/print.css";
import { HttpSource } from "../data/source";
import { App } from "./App";
import { applyTheme } from "./theme";

applyTheme();
const root = document.getElementById("root");
if (root) createRoot(root).render(<App source={new HttpSource()} />);
