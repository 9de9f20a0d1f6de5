// Made by `npm run types` from the server's OpenAPI description. Not to be edited.

export interface paths {
    "/api/eval-sets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Eval Sets
         * @description Return every eval set of the project, by path.
         */
        get: operations["list_eval_sets"];
        put?: never;
        /**
         * Create Set
         * @description Create a set without cases.
         */
        post: operations["create_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Eval Set
         * @description Return one set with all errors and warnings about it.
         */
        get: operations["get_eval_set"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Migrate Eval Set
         * @description Convert a set of an old format into a new file next to the old one, which stays.
         */
        post: operations["migrate_eval_set"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/head": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Eval Set Head
         * @description Return every key of a set except its cases; a change has to name the ETag.
         */
        get: operations["get_eval_set_head"];
        /**
         * Save Eval Set Head
         * @description Change the keys of a set; its cases, and equal keys, keep their bytes in the file.
         */
        put: operations["save_eval_set_head"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/head/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Eval Set Head
         * @description Return how saving the keys of a set would change its file, line by line; nothing is written.
         */
        post: operations["preview_eval_set_head"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Eval Cases
         * @description Return cases of a set, in the order of the file.
         */
        get: operations["list_eval_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/case": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Eval Case
         * @description Return one case with all its keys; a change has to name the ETag.
         */
        get: operations["get_eval_case"];
        /**
         * Save Eval Case
         * @description Change a case; its equal parts keep their bytes in the file.
         */
        put: operations["save_eval_case"];
        /**
         * Add Eval Case
         * @description Append a new case to a set.
         */
        post: operations["add_eval_case"];
        /**
         * Remove Eval Case
         * @description Remove a case from a set.
         */
        delete: operations["remove_eval_case"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/case/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Eval Case
         * @description Return how saving a case would change the file, line by line; nothing is written.
         */
        post: operations["preview_eval_case"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/case/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Eval Case
         * @description Validate a case that is being edited, field by field; nothing is written.
         */
        post: operations["check_eval_case"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/cases/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove Eval Cases
         * @description Remove several cases from a set: all of them, or none if one was changed since it was read.
         */
        post: operations["remove_eval_cases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore Eval Case
         * @description Restore a removed case: the file becomes what it was, byte for byte.
         */
        post: operations["restore_eval_case"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/text": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Eval Set Text
         * @description Return the text of a set's file, valid or not; a change has to name the ETag.
         */
        get: operations["get_eval_set_text"];
        /**
         * Save Eval Set Text
         * @description Replace the text of a set's file; a text that is not an eval set needs a confirmation.
         */
        put: operations["save_eval_set_text"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/eval-sets/{eval_set}/text/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check Eval Set Text
         * @description Report the problems of a text by line and column; nothing is written.
         */
        post: operations["check_eval_set_text"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Chats
         * @description Return the open conversations.
         */
        get: operations["list_chats"];
        put?: never;
        /**
         * Open Chat
         * @description Start a conversation with an agent in a separate process.
         */
        post: operations["open_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Chat
         * @description Return a conversation, as far as it has come.
         */
        get: operations["get_chat"];
        put?: never;
        post?: never;
        /**
         * Close Chat
         * @description End a conversation, and the agent's process.
         */
        delete: operations["close_chat"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send Message
         * @description Send a message and stream the agent's answer. The answer continues if the client disconnects.
         */
        post: operations["send_message"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Chat Events
         * @description Resume the stream of an answer after the entry that `Last-Event-ID` names.
         */
        get: operations["get_chat_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop Chat
         * @description Stop the present answer.
         */
        post: operations["stop_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo Turn
         * @description Undo the last turn: send the earlier messages again in a new session.
         */
        post: operations["undo_turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/again": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Repeat Conversation
         * @description Send all messages again in a new session, after an answer that failed or was stopped.
         */
        post: operations["repeat_conversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/chats/{chat}/case": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save Chat
         * @description Save the conversation as a case of a set, as `proctor record` does.
         */
        post: operations["save_chat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/about": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get About
         * @description Return the version and the project of this server, and what it can do.
         */
        get: operations["get_about"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Runs
         * @description List the stored runs, newest first; without a store the list is empty.
         */
        get: operations["list_runs"];
        put?: never;
        /**
         * Start Run
         * @description Start a run in a separate process. If there are problems, report all of them and run nothing.
         */
        post: operations["start_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run
         * @description Return one run, given its id, the beginning of it, `latest` or `latest~1`.
         */
        get: operations["get_run"];
        put?: never;
        post?: never;
        /**
         * Delete Run
         * @description Delete a run with its evidence. It is named by its complete id; a run in progress and a baseline are not deleted.
         */
        delete: operations["delete_run"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run Notes
         * @description Return the notes of a run; all evidence is read for them.
         */
        get: operations["get_run_notes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/case-extras": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Case Extras
         * @description Return tags, tools and costs of a run's cases; all evidence is read for them, so the page requests them after the table.
         */
        get: operations["get_case_extras"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cause-trend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Cause Trend
         * @description Return the causes of a run's failures in it and in the runs before it; the verdicts of all are read.
         */
        get: operations["get_cause_trend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/texts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find In Conversations
         * @description Return for each text the cases whose conversations contain it; all evidence is read.
         */
        get: operations["find_in_conversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/reasons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find In Reasons
         * @description Return for each text the cases whose complete reasons contain it; the verdicts of all cases are read.
         */
        get: operations["find_in_reasons"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Cases
         * @description List the cases of a run in their order.
         */
        get: operations["list_cases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Export
         * @description Return the file that `proctor export` writes for a run.
         */
        get: operations["get_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Case
         * @description Return one case of a run: its verdict, metrics, trials and earlier scorings.
         */
        get: operations["get_case"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Trial
         * @description Return one trial, turn by turn, expected and actual side by side.
         */
        get: operations["get_trial"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/spans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Spans
         * @description Return the spans of one trial over time.
         */
        get: operations["get_spans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/judges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Judges
         * @description Return the votes of the LLM judges on one trial, and the labels of people for it.
         */
        get: operations["get_judges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/judges/{metric}/prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Prompt
         * @description Return the prompt of a metric's LLM judge about a turn; no model is called for it.
         */
        get: operations["get_prompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/evidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Evidence
         * @description Return the complete evidence (the transcript) of one trial as JSON.
         */
        get: operations["get_evidence"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cases/{position}/trials/{number}/labels/{metric}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Label
         * @description Store a label; it replaces the one that was read. If that has changed, nothing is stored.
         */
        put: operations["put_label"];
        post?: never;
        /**
         * Delete Label
         * @description Remove a label; if there is none, nothing happens.
         */
        delete: operations["delete_label"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/labelling/{metric}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Labelling
         * @description Return the progress towards a calibration, and the agreement of the people.
         */
        get: operations["get_labelling"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/labelling/{metric}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Next
         * @description List the next verdicts to label, without the verdicts; the order depends on ids, votes and scores alone.
         */
        get: operations["list_next"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/labelling/{metric}/calibration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Calibrate Judge
         * @description Calibrate the judge with the labels of this run, and store the result, as `proctor judge calibrate` does.
         */
        post: operations["calibrate_judge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/management": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Management
         * @description Return the annotation of a run, its baselines, and what would be deleted with it.
         */
        get: operations["get_management"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/annotation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Annotation
         * @description Write name, note or star of a run in place of what was; what is left out stays. The run itself stays unchanged.
         */
        put: operations["put_annotation"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/baselines/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put Baseline
         * @description Make a run the baseline of this name. It replaces only the run that If-Match names.
         */
        put: operations["put_baseline"];
        post?: never;
        /**
         * Delete Baseline
         * @description Remove the baseline of this name if it is that run, which stays.
         */
        delete: operations["delete_baseline"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/bless/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview Bless
         * @description Return the changes of the eval sets, case by case. Nothing is written; the ETag is the version of the files.
         */
        post: operations["preview_bless"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/bless": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bless Cases
         * @description Write the reviewed changes; each file is replaced as a whole. If the client disconnects before, nothing is written.
         */
        post: operations["bless_cases"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run Events
         * @description Stream the events of a run: every case as soon as its verdict is stored, and the progress of the run.
         *
         *     The process that executes the run may be any. A client that lost its connection resumes the stream with
         *     `Last-Event-ID`. The stream ends when no process executes the run any more.
         */
        get: operations["get_run_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel Run
         * @description Interrupt a run of this server as Ctrl-C does: running trials have a few seconds to finish, finished ones are kept.
         *
         *     A second request ends the run at once. The runs of other processes are refused: cancel them where they were started.
         */
        post: operations["cancel_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/runs/{run}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume Run
         * @description Resume an unfinished run with its options.
         */
        post: operations["resume_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Agents
         * @description List the agents that the page may start: those of the server's start or settings, and `replay`.
         */
        get: operations["list_agents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Metrics
         * @description List the metrics with their descriptions, needs and options.
         */
        get: operations["list_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Start
         * @description Return the eval sets and configs of the project, and the defaults of a run.
         */
        get: operations["get_start"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Start Set
         * @description Return the cases of one eval set.
         */
        get: operations["get_start_set"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start/repeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Repeated Run
         * @description Return the request for a run like a stored one; nothing is started.
         */
        get: operations["get_repeated_run"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/start/of-set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Run Of Set
         * @description Return the request for an eval set, like one of its runs; nothing is started.
         */
        get: operations["get_run_of_set"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/estimates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Estimate Run
         * @description Estimate the cost and the duration of a run; if it cannot be run, report all problems.
         */
        post: operations["estimate_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/baselines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Baselines
         * @description List the baselines by name.
         */
        get: operations["list_baselines"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Comparison
         * @description Compare two runs case by case, as `proctor compare` does.
         */
        get: operations["get_comparison"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/compare/case": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Pair
         * @description Return one case of two runs: a trial of each, from their first difference on.
         */
        get: operations["get_pair"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/matrix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Matrix
         * @description Return several runs on the same cases.
         */
        get: operations["get_matrix"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get History
         * @description Return which cases broke in which run, agent by agent; with `case`, that case run by run.
         */
        get: operations["get_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/history/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Cost Intervals
         * @description Return the 95 % confidence intervals of the costs of runs; the evidence of their cases is read (5,000 at most).
         */
        get: operations["get_cost_intervals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/judges": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Judges
         * @description List the LLM judges of the newest runs with their calibrations.
         */
        get: operations["list_judges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List Audits
         * @description List the stored audits, newest first; without a store the list is empty.
         */
        get: operations["list_audits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audits/{audit}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Audit
         * @description Return one audit: what the eval sets catch, and what they are blind to.
         */
        get: operations["get_audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/audits/{audit}/cases/{position}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get Audited Case
         * @description Return one case of an audit: its mutants, and each that survives with what was recorded.
         */
        get: operations["get_audited_case"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * AboutPage
         * @description The version of Proctor, the project, and what the server can do.
         */
        AboutPage: {
            /** Version */
            version: string;
            /** Project */
            project: string;
            /** Store */
            store: string;
            /** Agents */
            agents: string[];
            /** Any Agent */
            any_agent: boolean;
            /** Can Run */
            can_run: boolean;
            /** Why Not */
            why_not: string;
            /** Has Token */
            has_token: boolean;
        };
        /**
         * Against
         * @description The run with which this one is compared, and the number of changes; null until every case of both is read.
         */
        Against: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Kind */
            kind: string;
            /** Created At */
            created_at: number;
            outcome: components["schemas"]["Outcome"] | null;
            pass_rate: components["schemas"]["PassedShare"];
            /** Worse */
            worse: number | null;
            /** Missing */
            missing: number | null;
            /** Better */
            better: number | null;
            /** No Longer In Error */
            no_longer_in_error: number | null;
            /** Within Noise */
            within_noise: number | null;
            /** Same */
            same: number | null;
            /** Not Run */
            not_run: number | null;
            /** Unpaired */
            unpaired: number | null;
        };
        /**
         * AgentChoice
         * @description An agent that may be started from the page.
         */
        AgentChoice: {
            /** Name */
            name: string;
            /** Reference */
            reference: string;
        };
        /**
         * AgentPart
         * @description An agent's instructions and tools.
         */
        AgentPart: {
            /** Name */
            name: string;
            instructions: components["schemas"]["Clip"] | null;
            /** Tools */
            tools: string[];
        };
        /**
         * AgentsPage
         * @description The agents that may be started from the page.
         */
        AgentsPage: {
            /** Items */
            items: components["schemas"]["AgentChoice"][];
            /** Can Run */
            can_run: boolean;
            /** Why Not */
            why_not: string;
        };
        /**
         * AnnotationChange
         * @description What changes in it: missing keys stay unchanged.
         */
        AnnotationChange: {
            /** Name */
            name?: string | null;
            /** Note */
            note?: string | null;
            /** Starred */
            starred?: boolean | null;
        };
        /**
         * AnswerPart
         * @description The answer of a turn, and the expected one.
         */
        AnswerPart: {
            expected: components["schemas"]["MarkedText"] | null;
            actual: components["schemas"]["MarkedText"] | null;
            /** Same */
            same: boolean;
        };
        /**
         * AskedMessage
         * @description One message to a judge.
         */
        AskedMessage: {
            /** Role */
            role: string;
            text: components["schemas"]["Clip"];
        };
        /**
         * AttributePart
         * @description An attribute of a span other than request and response.
         */
        AttributePart: {
            /** Name */
            name: string;
            value: components["schemas"]["Clip"];
        };
        /**
         * AuditPage
         * @description One audit.
         */
        AuditPage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Created At */
            created_at: number;
            /** Seed */
            seed: number;
            /** Sets */
            sets: components["schemas"]["AuditedSet"][];
            /** Paths */
            paths: string[];
            /** Configs */
            configs: string[];
            /** Sentence */
            sentence: string;
            caught: components["schemas"]["Share"];
            /** Errors */
            errors: number;
            /** Audited */
            audited: number;
            /** Classes */
            classes: components["schemas"]["FaultClass"][];
            /** Cases */
            cases: components["schemas"]["AuditedCaseRow"][];
            /** Metrics */
            metrics: components["schemas"]["AuditedMetric"][];
            /** Judges */
            judges: components["schemas"]["AuditedJudge"][];
            /** Asked */
            asked: string;
            /** Notes */
            notes: string[];
            /** Changes */
            changes: components["schemas"]["ChangeGroup"][];
            /** Warnings */
            warnings: string[];
            /** Command */
            command: string;
        };
        /**
         * AuditRow
         * @description An audit in a list.
         */
        AuditRow: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Created At */
            created_at: number;
            /** Cases */
            cases: number;
            /** Config */
            config: string;
            /** Mutants */
            mutants: string[];
            /** Sets */
            sets: components["schemas"]["AuditedSet"][];
        };
        /**
         * AuditedCasePage
         * @description One case of an audit.
         */
        AuditedCasePage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Position */
            position: number;
            /** Total */
            total: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            /** Place */
            place: string;
            /** Problem */
            problem: string;
            /** Contradicts */
            contradicts: boolean;
            /** Same As */
            same_as: string;
            caught: components["schemas"]["Share"];
            /** Mutants */
            mutants: components["schemas"]["MutantLine"][];
            /** Survivors */
            survivors: components["schemas"]["SurvivorPart"][];
            /** Changes */
            changes: components["schemas"]["ChangeGroup"][];
            previous: components["schemas"]["CasePlace"] | null;
            next: components["schemas"]["CasePlace"] | null;
            /** Command */
            command: string;
        };
        /**
         * AuditedCaseRow
         * @description One case of an audit.
         */
        AuditedCaseRow: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            /** Place */
            place: string;
            caught: components["schemas"]["Share"];
            /** Survivors */
            survivors: number;
            /** Errors */
            errors: number;
            /** Faults */
            faults: string[];
            /** Passed By */
            passed_by: string[];
            /** Same As */
            same_as: string;
            /** Problem */
            problem: string;
            /** Contradicts */
            contradicts: boolean;
        };
        /**
         * AuditedJudge
         * @description The verdicts of one judge: recorded conversations are right, mutants are wrong.
         */
        AuditedJudge: {
            /** Metric */
            metric: string;
            /** Model */
            model: string;
            recorded: components["schemas"]["Share"];
            mutants: components["schemas"]["Share"];
            /** Passes Everything */
            passes_everything: boolean;
            /** Classes */
            classes: components["schemas"]["JudgedClass"][];
            /** Notes */
            notes: string[];
        };
        /**
         * AuditedMetric
         * @description How often one gating metric decided.
         */
        AuditedMetric: {
            /** Name */
            name: string;
            /** Threshold */
            threshold: number | null;
            /** Scored */
            scored: number;
            /** Failed */
            failed: number;
            /** Is Idle */
            is_idle: boolean;
        };
        /**
         * AuditedSet
         * @description What one eval set of an audit catches, in short.
         */
        AuditedSet: {
            /** Eval Set Id */
            eval_set_id: string;
            caught: components["schemas"]["Share"];
            /** Classes Caught */
            classes_caught: number;
            /** Classes */
            classes: number;
            /** Blind */
            blind: string[];
            /** Passed By Any */
            passed_by_any: number;
        };
        /**
         * AuditsPage
         * @description Some of the audits.
         */
        AuditsPage: {
            /** Items */
            items: components["schemas"]["AuditRow"][];
            /** Next */
            next: string | null;
            /** Total */
            total: number;
        };
        /**
         * BallotPart
         * @description One question to a judge, and its votes.
         */
        BallotPart: {
            /** Metric */
            metric: string;
            /** Turn */
            turn: number | null;
            outcome: components["schemas"]["Outcome"];
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Reason */
            reason: string;
            /** Model */
            model: string;
            /** Prompt */
            prompt: string;
            /** Planned */
            planned: number | null;
            /** Agreement */
            agreement: number | null;
            /** Votes */
            votes: components["schemas"]["VotePart"][];
            /** Findings */
            findings: components["schemas"]["FindingPart"][];
            /** Rubrics */
            rubrics: boolean;
            /** Labels */
            labels: components["schemas"]["LabelPart"][];
        };
        /**
         * BaselineRow
         * @description A baseline: a run with a name, to compare others with.
         */
        BaselineRow: {
            /** Name */
            name: string;
            /** Run Id */
            run_id: string;
            /** Agent */
            agent: string;
            /** Started At */
            started_at: number;
        };
        /**
         * BaselinesPage
         * @description The baselines of the store.
         */
        BaselinesPage: {
            /** Items */
            items: components["schemas"]["BaselineRow"][];
        };
        /**
         * BlessCase
         * @description One case, and how it would change.
         */
        BlessCase: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            outcome: components["schemas"]["Outcome"];
            /** Trials */
            trials: number;
            /** Trial */
            trial: number | null;
            /**
             * Status
             * @enum {string}
             */
            status: "changes" | "same" | "refused";
            /**
             * Why
             * @default
             */
            why: string;
            /**
             * Choose
             * @default false
             */
            choose: boolean;
            /**
             * Changed Since
             * @default false
             */
            changed_since: boolean;
            /**
             * Strip
             * @default
             */
            strip: string;
            /**
             * Flaky
             * @default false
             */
            flaky: boolean;
            /**
             * Differ
             * @default false
             */
            differ: boolean;
            /**
             * Path
             * @default
             */
            path: string;
            /** Changes */
            changes: components["schemas"]["proctor__web__pages__bless_changes__CaseChange"][];
            /** Hunks */
            hunks: components["schemas"]["Hunk"][];
            /** Lost */
            lost: string[];
        };
        /**
         * BlessFile
         * @description One file, with the losses that concern no single case.
         */
        BlessFile: {
            /** Path */
            path: string;
            /** Lost */
            lost: string[];
        };
        /**
         * BlessPage
         * @description The changes that blessing a run would write. Nothing has been written.
         */
        BlessPage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            /** Etag */
            etag: string;
            /** Cases */
            cases: components["schemas"]["BlessCase"][];
            /** Files */
            files: components["schemas"]["BlessFile"][];
            /** Problems */
            problems: string[];
        };
        /**
         * BlessToPreview
         * @description The cases to preview, and their trials.
         */
        BlessToPreview: {
            /** Cases */
            cases?: number[] | null;
            /** Trials */
            trials?: {
                [key: string]: number;
            };
            /**
             * Force
             * @default false
             */
            force: boolean;
        };
        /**
         * BlessToWrite
         * @description The confirmed changes.
         */
        BlessToWrite: {
            /** Cases */
            cases: number[];
            /** Trials */
            trials?: {
                [key: string]: number;
            };
            /**
             * Force
             * @default false
             */
            force: boolean;
            /**
             * Lose Comments
             * @default false
             */
            lose_comments: boolean;
        };
        /**
         * BlessedFile
         * @description A file that was written.
         */
        BlessedFile: {
            /** Path */
            path: string;
            /** Cases */
            cases: string[];
        };
        /**
         * BlessedPage
         * @description The result of a blessing.
         */
        BlessedPage: {
            /** Files */
            files: components["schemas"]["BlessedFile"][];
            /** Etag */
            etag: string;
        };
        /**
         * CalibrationPart
         * @description The calibration of a judge: its agreement with labels of people.
         */
        CalibrationPart: {
            /** Created At */
            created_at: number;
            /** Run Id */
            run_id: string;
            /** Unit */
            unit: string;
            /** Confidence */
            confidence: number;
            /** Labels */
            labels: number;
            /** Both Pass */
            both_pass: number;
            /** Judge Fails */
            judge_fails: number;
            /** Judge Passes */
            judge_passes: number;
            /** Both Fail */
            both_fail: number;
            accuracy: components["schemas"]["FigurePart"];
            tpr: components["schemas"]["FigurePart"];
            tnr: components["schemas"]["FigurePart"];
            kappa: components["schemas"]["FigurePart"];
        };
        /**
         * Cancelled
         * @description A run that was interrupted.
         */
        Cancelled: {
            /** Run Id */
            run_id: string;
        };
        /**
         * CaseBefore
         * @description The result of the case in the previous run.
         */
        CaseBefore: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Position */
            position: number;
            outcome: components["schemas"]["Outcome"];
            /** Created At */
            created_at: number;
        };
        /**
         * CaseChecked
         * @description The problems of a case that is being edited.
         */
        CaseChecked: {
            /** Errors */
            errors: components["schemas"]["FieldNote"][];
            /** Refused */
            refused: components["schemas"]["FieldNote"][];
            /** Warnings */
            warnings: components["schemas"]["FieldNote"][];
        };
        /**
         * CaseExtras
         * @description Tags, tools and costs of the cases of a run; the page requests them after the table.
         */
        CaseExtras: {
            /** Tags */
            tags: {
                [key: string]: number[];
            };
            /** Tools */
            tools: {
                [key: string]: number[];
            };
            /** Tool Figures */
            tool_figures: components["schemas"]["ToolFigures"][];
            /** Costs */
            costs: (number | null)[];
            /** Cost Texts */
            cost_texts: string[];
            /** Attempts */
            attempts: number[];
        };
        /**
         * CasePage
         * @description One case of a run.
         */
        CasePage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            /** Began */
            began: number;
            /** Judging */
            judging: number;
            /** Position */
            position: number;
            /** Total */
            total: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            /** Place */
            place: string;
            outcome: components["schemas"]["Outcome"];
            /** Sentence */
            sentence: string;
            /** Reason */
            reason: string;
            share: components["schemas"]["PassedTrials"] | null;
            /** Trials */
            trials: components["schemas"]["TrialLine"][];
            /** Metrics */
            metrics: components["schemas"]["MetricLine"][];
            /** Warnings */
            warnings: string[];
            /** History */
            history: components["schemas"]["JudgedLine"][];
            /** Scenario */
            scenario: components["schemas"]["LabelledText"][];
            previous: components["schemas"]["CasePlace"] | null;
            next: components["schemas"]["CasePlace"] | null;
            before: components["schemas"]["CaseBefore"] | null;
            /** Command */
            command: string;
            /** Hint */
            hint: string;
        };
        /**
         * CasePlace
         * @description Another case of the run.
         */
        CasePlace: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
        };
        /**
         * CasePreview
         * @description The change of the file that saving would make.
         */
        CasePreview: {
            /** Lines */
            lines: components["schemas"]["DiffLine"][];
            /** Lost */
            lost: string[];
            /** Warnings */
            warnings: components["schemas"]["FieldNote"][];
        };
        /**
         * CaseRefusal
         * @description Why a case was not written.
         */
        CaseRefusal: {
            /** Detail */
            detail: string;
            /** Fields */
            fields: components["schemas"]["FieldNote"][];
            /** Lost */
            lost: string[];
            /** Theirs */
            theirs: unknown;
            /** Version */
            version: string;
            /** Changed */
            changed: string[];
        };
        /**
         * CaseRemoved
         * @description Cases that were removed.
         */
        CaseRemoved: {
            /** Eval Ids */
            eval_ids: string[];
            /** Undo */
            undo: string;
        };
        /**
         * CaseRow
         * @description One case of a run.
         */
        CaseRow: {
            /** Position */
            position: number;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            outcome: components["schemas"]["Outcome"];
            /** Strip */
            strip: string;
            /** Why */
            why: string;
            /** Cause */
            cause: string;
            /** Scores */
            scores: {
                [key: string]: number | null;
            };
            /** Missed */
            missed: string[];
            /** Errors */
            errors: string[];
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Cost */
            cost: number | null;
            /** Cost Text */
            cost_text: string;
            /** Seconds */
            seconds: number | null;
            /** Tokens */
            tokens: number | null;
            /** Flaky */
            flaky: boolean;
            /** Played */
            played: boolean;
            /** Tags */
            tags: string[];
            /** Tools */
            tools: string[];
            /** Place */
            place: string;
            /** Change */
            change: ("worse" | "missing" | "better" | "no_longer_in_error" | "within_noise") | null;
            was: components["schemas"]["Outcome"] | null;
        };
        /**
         * CaseSaved
         * @description A case that was written.
         */
        CaseSaved: {
            /** Eval Id */
            eval_id: string;
            /** Position */
            position: number;
            /** Line */
            line: number;
            /** Version */
            version: string;
            /** Value */
            value: unknown;
            /** Warnings */
            warnings: components["schemas"]["FieldNote"][];
        };
        /**
         * CaseVersion
         * @description A case in the version that was read.
         */
        CaseVersion: {
            /** Eval Id */
            eval_id: string;
            /** Version */
            version: string;
        };
        /**
         * CasesPage
         * @description Cases of a run, in their order.
         */
        CasesPage: {
            /** Items */
            items: components["schemas"]["CaseRow"][];
            /** Total */
            total: number;
        };
        /**
         * CauseGroup
         * @description The cases that failed for the same cause.
         */
        CauseGroup: {
            /** Text */
            text: string;
            /** Cases */
            cases: number;
            /** Before */
            before: number | null;
        };
        /**
         * CausePart
         * @description Why something could not be computed.
         */
        CausePart: {
            /** Where */
            where: string;
            /** What */
            what: string;
            /** Error */
            error: string;
            /** Place */
            place: string;
            /** Code */
            code: string;
            traceback: components["schemas"]["Clip"] | null;
            /** Turn */
            turn: number | null;
            /** Infrastructure */
            infrastructure: boolean;
        };
        /**
         * CauseSizes
         * @description One cause of failures over the runs.
         */
        CauseSizes: {
            /** Text */
            text: string;
            /** Sizes */
            sizes: number[];
            /** Since */
            since: string;
        };
        /**
         * CauseTrend
         * @description The causes of the failures of a run in the last runs of the same agent and eval sets.
         */
        CauseTrend: {
            /** Runs */
            runs: components["schemas"]["TrendRun"][];
            /** Causes */
            causes: components["schemas"]["CauseSizes"][];
        };
        /**
         * Change
         * @description The outcome of a comparison.
         * @enum {string}
         */
        Change: "regression" | "error" | "inconclusive" | "improvement" | "no_regression" | "no_difference";
        /**
         * ChangeGroup
         * @description The changes of one config or case.
         */
        ChangeGroup: {
            /** Place */
            place: string;
            /** Changes */
            changes: components["schemas"]["ChangeLine"][];
            /** Snippets */
            snippets: string[];
        };
        /**
         * ChangeLine
         * @description One change that catches survivors.
         */
        ChangeLine: {
            /** Change */
            change: string;
            /** Catches */
            catches: number;
            /** Of */
            of: number;
            /** Faults */
            faults: string[];
            /** Note */
            note: string;
        };
        /**
         * ChangedBy
         * @description Who changed something between two runs, as far as the manifests show it.
         * @enum {string}
         */
        ChangedBy: "you" | "provider" | "unknown";
        /**
         * ChangedLine
         * @description One case that changed.
         */
        ChangedLine: {
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            change: components["schemas"]["proctor__schema__analysis__comparison__CaseChange"];
            /** Base */
            base: string;
            /** Candidate */
            candidate: string;
            /** Base Text */
            base_text: string;
            /** Candidate Text */
            candidate_text: string;
            /** Metric */
            metric: string;
            /** Scores */
            scores: [
                number,
                number
            ] | null;
            /** Reason */
            reason: string;
            /** Before */
            before: string;
            /** Base Position */
            base_position: number | null;
            /** Candidate Position */
            candidate_position: number | null;
        };
        /**
         * ChatEntry
         * @description One entry of a conversation. Long texts and values are shortened.
         */
        ChatEntry: {
            /** Number */
            number: number;
            /** Exchange */
            exchange: number;
            /** Kind */
            kind: string;
            /**
             * Author
             * @default
             */
            author: string;
            /**
             * Text
             * @default
             */
            text: string;
            /**
             * Partial
             * @default false
             */
            partial: boolean;
            /**
             * Name
             * @default
             */
            name: string;
            /**
             * Call Id
             * @default
             */
            call_id: string;
            /** Value */
            value: unknown;
            /**
             * Waits
             * @default false
             */
            waits: boolean;
            /** Seconds */
            seconds: number | null;
        };
        /**
         * ChatList
         * @description The open conversations.
         */
        ChatList: {
            /** Items */
            items: components["schemas"]["ChatSummary"][];
            /** Most */
            most: number;
        };
        /**
         * ChatPage
         * @description One conversation, as far as it has come.
         */
        ChatPage: {
            /** Id */
            id: string;
            /** Agent */
            agent: string;
            /** State */
            state: string;
            /** Turns */
            turns: number;
            /** Entries */
            entries: components["schemas"]["ChatEntry"][];
            /** Session State */
            session_state: {
                [key: string]: unknown;
            };
            /** Initial State */
            initial_state: {
                [key: string]: unknown;
            };
            /** Idle Seconds */
            idle_seconds: number;
        };
        /**
         * ChatSaved
         * @description A conversation that was saved as a case.
         */
        ChatSaved: {
            /** Eval Set */
            eval_set: string;
            /** Path */
            path: string;
            /** Eval Id */
            eval_id: string;
            /** Turns */
            turns: number;
            /** Command */
            command: string;
            /** Warnings */
            warnings: string[];
        };
        /**
         * ChatSummary
         * @description One of the open conversations.
         */
        ChatSummary: {
            /** Id */
            id: string;
            /** Agent */
            agent: string;
            /** State */
            state: string;
            /** Turns */
            turns: number;
            /** Begins */
            begins: string;
        };
        /**
         * ChosenSet
         * @description An eval set of a new run.
         */
        ChosenSet: {
            /** Path */
            path: string;
            /** Cases */
            cases?: string[] | null;
        };
        /**
         * Clip
         * @description A text or, if it is long, its beginning.
         */
        Clip: {
            /** Text */
            text: string;
            /** Left Out */
            left_out: number;
        };
        /**
         * ComparedRunPart
         * @description One of the two runs.
         */
        ComparedRunPart: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Baseline */
            baseline: string;
            /** Kept */
            kept: boolean;
            /** Agent */
            agent: string;
            /** Commit */
            commit: string | null;
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Started At */
            started_at: number;
        };
        /**
         * ComparisonPage
         * @description The comparison of two runs.
         */
        ComparisonPage: {
            outcome: components["schemas"]["Change"];
            /** Exit Code */
            exit_code: number;
            /** Sentence */
            sentence: string;
            base: components["schemas"]["ComparedRunPart"];
            candidate: components["schemas"]["ComparedRunPart"];
            /** Margin */
            margin: number;
            /** Confidence */
            confidence: number;
            /** On These Cases */
            on_these_cases: string;
            /** In General */
            in_general: string;
            general: components["schemas"]["GeneralLine"] | null;
            /** Next Steps */
            next_steps: string[];
            /** Pairs */
            pairs: number;
            /** Same */
            same: number;
            /** Without Verdicts */
            without_verdicts: number;
            /** More Cases */
            more_cases: number | null;
            /** More Trials */
            more_trials: number | null;
            /** Measures */
            measures: components["schemas"]["MeasuredLine"][];
            /** Cases */
            cases: components["schemas"]["ChangedLine"][];
            /** Only Base */
            only_base: components["schemas"]["LoneCase"][];
            /** Only Candidate */
            only_candidate: components["schemas"]["LoneCase"][];
            /** Changed Cases */
            changed_cases: components["schemas"]["LoneCase"][];
            /** Unlike */
            unlike: components["schemas"]["UnlikeLine"][];
            /** Missing */
            missing: string[];
            /** Costs */
            costs: [
                string,
                string
            ] | null;
            /** Markdown */
            markdown: string;
            /** Command */
            command: string;
        };
        /**
         * CostInterval
         * @description The 95 % confidence interval of the mean cost of a trial in one run, in US dollars.
         */
        CostInterval: {
            /** Run Id */
            run_id: string;
            /** Low */
            low: number;
            /** High */
            high: number;
            /** Cases */
            cases: number;
        };
        /**
         * CostIntervals
         * @description The intervals of the requested runs; without those whose costs are not all known, and the oldest of many.
         */
        CostIntervals: {
            /** Items */
            items: components["schemas"]["CostInterval"][];
            /** Left Out */
            left_out: number;
        };
        /**
         * Course
         * @description The state of a case over its runs, in the order in which cases are listed.
         * @enum {string}
         */
        Course: "broke" | "failing" | "undecided" | "flaky" | "fixed" | "steady";
        /**
         * CreatedSet
         * @description A new set.
         */
        CreatedSet: {
            /** Id */
            id: string;
            /** Path */
            path: string;
        };
        /**
         * Detail
         * @description The reason of a refusal.
         */
        Detail: {
            /** Detail */
            detail: string;
        };
        /**
         * DiffKind
         * @description How the two sides of one line relate.
         * @enum {string}
         */
        DiffKind: "same" | "differs" | "missing" | "extra" | "moved" | "allowed";
        /**
         * DiffLine
         * @description One line of a file's difference.
         */
        DiffLine: {
            /** Sign */
            sign: string;
            /** Number */
            number: number | null;
            /** Text */
            text: string;
        };
        /**
         * DisputePart
         * @description A verdict that people label differently.
         */
        DisputePart: {
            item: components["schemas"]["LabelledItem"];
            asked: components["schemas"]["Clip"];
            answered: components["schemas"]["Clip"];
            /** Labels */
            labels: components["schemas"]["LabelPart"][];
            /** Counted */
            counted: boolean | null;
        };
        /**
         * Draft
         * @description The new keys of a case, or of a set without its cases.
         */
        Draft: {
            /** Value */
            value: {
                [key: string]: unknown;
            };
            /**
             * Comments May Go
             * @default false
             */
            comments_may_go: boolean;
        };
        /**
         * EstimatePage
         * @description The estimate of a run, and its basis.
         */
        EstimatePage: {
            /** Cases */
            cases: number;
            /** Trials */
            trials: number;
            /** Confidence */
            confidence: number;
            /** Run Id */
            run_id: string | null;
            /** Seen */
            seen: number;
            cost: components["schemas"]["EstimatedFigure"] | null;
            known_cost: components["schemas"]["EstimatedFigure"] | null;
            seconds: components["schemas"]["EstimatedFigure"] | null;
            /** Purposes */
            purposes: components["schemas"]["PurposeFigures"][];
            /** Notes */
            notes: string[];
            /** Command */
            command: string;
        };
        /**
         * EstimatedFigure
         * @description An estimated figure with its prediction interval; one case alone gives no interval.
         */
        EstimatedFigure: {
            /** Value */
            value: number;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
        };
        /**
         * EvalCaseList
         * @description Cases of a set, in the order of the file.
         */
        EvalCaseList: {
            /** Items */
            items: components["schemas"]["EvalCaseRow"][];
            /** Total */
            total: number;
        };
        /**
         * EvalCasePage
         * @description One case as in its file.
         */
        EvalCasePage: {
            /** Eval Set */
            eval_set: string;
            /** Eval Set Id */
            eval_set_id: string;
            /** Path */
            path: string;
            /** Form */
            form: string;
            /** Eval Id */
            eval_id: string;
            /** Position */
            position: number;
            /** Line */
            line: number;
            /** Total */
            total: number;
            /** Previous */
            previous: string | null;
            /** Next */
            next: string | null;
            /** Version */
            version: string;
            /** Can Edit */
            can_edit: boolean;
            /** Why Not */
            why_not: string;
            /** Value */
            value: unknown;
            /** Warnings */
            warnings: components["schemas"]["FieldNote"][];
            /** Personas */
            personas: string[];
        };
        /**
         * EvalCaseRow
         * @description One case in the list of a set's cases.
         */
        EvalCaseRow: {
            /** Position */
            position: number;
            /** Eval Id */
            eval_id: string;
            /** Line */
            line: number;
            /** Kind */
            kind: string;
            /** Turns */
            turns: number;
            /** Asks */
            asks: string;
            /** Calls */
            calls: number;
            /** Tags */
            tags: string[];
            /** Rubrics */
            rubrics: number;
            /** Has State */
            has_state: boolean;
            /** Errors */
            errors: number;
            /** Warnings */
            warnings: number;
        };
        /**
         * EvalSetHead
         * @description The keys of a set in its file, without the cases.
         */
        EvalSetHead: {
            /** Eval Set Id */
            eval_set_id: string;
            /** Version */
            version: string;
            /** Value */
            value: unknown;
            /** Warnings */
            warnings: components["schemas"]["FieldNote"][];
        };
        /**
         * EvalSetList
         * @description All eval sets of a project, by path.
         */
        EvalSetList: {
            /** Items */
            items: components["schemas"]["EvalSetRow"][];
            /** Folders */
            folders: string[];
        };
        /**
         * EvalSetPage
         * @description One eval set, without its cases.
         */
        EvalSetPage: {
            /** Id */
            id: string;
            /** Path */
            path: string;
            /** Eval Set Id */
            eval_set_id: string | null;
            /** Name */
            name: string | null;
            /** Form */
            form: string;
            /** Kind */
            kind: string;
            /** Can Edit */
            can_edit: boolean;
            /** Is Old */
            is_old: boolean;
            /** Cases */
            cases: number | null;
            /** Errors */
            errors: number;
            /** Warnings */
            warnings: number;
            /** First Problem */
            first_problem: string | null;
            /** Description */
            description: string | null;
            /** Why Not */
            why_not: string;
            /** Has Head */
            has_head: boolean;
            /** Migrates To */
            migrates_to: string | null;
            /** Problems */
            problems: components["schemas"]["ProblemNote"][];
            /** Command */
            command: string;
        };
        /**
         * EvalSetRow
         * @description One eval set in the list of all.
         */
        EvalSetRow: {
            /** Id */
            id: string;
            /** Path */
            path: string;
            /** Eval Set Id */
            eval_set_id: string | null;
            /** Name */
            name: string | null;
            /** Form */
            form: string;
            /** Kind */
            kind: string;
            /** Can Edit */
            can_edit: boolean;
            /** Is Old */
            is_old: boolean;
            /** Cases */
            cases: number | null;
            /** Errors */
            errors: number;
            /** Warnings */
            warnings: number;
            /** First Problem */
            first_problem: string | null;
        };
        /**
         * EvalSetText
         * @description The text of a set's file, or a draft of it.
         */
        EvalSetText: {
            /** Path */
            path: string;
            /** Text */
            text: string;
            /** Version */
            version: string;
            /** Readable */
            readable: boolean;
            /** Problems */
            problems: components["schemas"]["ProblemNote"][];
        };
        /**
         * Fate
         * @description What became of a mutant.
         * @enum {string}
         */
        Fate: "caught" | "survived" | "error";
        /**
         * FaultClass
         * @description What became of the mutants of one class of faults.
         */
        FaultClass: {
            /** Name */
            name: string;
            /** Label */
            label: string;
            /** Family */
            family: string;
            /** Is Agent */
            is_agent: boolean;
            caught: components["schemas"]["Share"];
            /** Errors */
            errors: number;
            /** Cases */
            cases: number;
            /**
             * Standing
             * @enum {string}
             */
            standing: "caught" | "weak" | "blind" | "not_applicable";
        };
        /**
         * FieldNote
         * @description A message about one field of a case.
         */
        FieldNote: {
            /** Pointer */
            pointer: string;
            /** Message */
            message: string;
            /** Hint */
            hint: string;
        };
        /**
         * FigurePart
         * @description A figure with its confidence interval; all null if it is not defined.
         */
        FigurePart: {
            /** Value */
            value: number | null;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
        };
        /**
         * FindingPart
         * @description A judge's finding about one rubric or one sentence.
         */
        FindingPart: {
            /** Holds */
            holds: boolean | null;
            /** Name */
            name: string;
            /** Text */
            text: string;
            /** Why */
            why: string;
        };
        /**
         * GeneralLine
         * @description The difference of pass rates for cases like these.
         */
        GeneralLine: {
            /** Difference */
            difference: number;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Confidence */
            confidence: number;
            /** P Value */
            p_value: number;
        };
        /** HTTPValidationError */
        HTTPValidationError: {
            /** Detail */
            detail?: components["schemas"]["ValidationError"][];
        };
        /**
         * HistoryCase
         * @description The history of one case in the runs of one agent.
         */
        HistoryCase: {
            /** Agent */
            agent: string;
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            course: components["schemas"]["Course"];
            /** Sentence */
            sentence: string;
            /** Strip */
            strip: string;
            /** Why */
            why: string;
            /** Decided */
            decided: number;
            /** Failed */
            failed: number;
            /** Flips */
            flips: number;
            /** Unexplained */
            unexplained: number;
            /** Mixed */
            mixed: number;
            turning: components["schemas"]["TurningPart"] | null;
        };
        /**
         * HistoryPage
         * @description The history of all cases, or of one.
         */
        HistoryPage: {
            /** Runs */
            runs: components["schemas"]["HistoryRunPart"][];
            /** Older */
            older: number;
            /** Sets */
            sets: string[];
            /** Agents */
            agents: string[];
            /** Unread */
            unread: string[];
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Cases */
            cases: components["schemas"]["HistoryCase"][];
            /** Points */
            points: components["schemas"]["HistoryPoint"][] | null;
            /** Series */
            series: components["schemas"]["Series"][];
            /** Changes */
            changes: components["schemas"]["RunChangePart"][];
            /** Command */
            command: string;
        };
        /**
         * HistoryPoint
         * @description One case in one run.
         */
        HistoryPoint: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            outcome: components["schemas"]["Outcome"];
            /** Strip */
            strip: string;
            /** Reason */
            reason: string;
            /** Changed */
            changed: components["schemas"]["UnlikeLine"][];
        };
        /**
         * HistoryRunPart
         * @description One of the runs of the history.
         */
        HistoryRunPart: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Started At */
            started_at: number;
            /** Agent */
            agent: string;
            /** Commit */
            commit: string | null;
            /** Version */
            version: string | null;
            /** Build */
            build: string;
            outcome: components["schemas"]["Outcome"] | null;
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Stopped By */
            stopped_by: string;
            /** Unread Sets */
            unread_sets: string[];
            /** Chosen Of */
            chosen_of: number | null;
            /** Trial Cost */
            trial_cost: number | null;
        };
        /**
         * Hunk
         * @description A group of adjacent changes in the file.
         */
        Hunk: {
            /** Before */
            before: number;
            /** After */
            after: number;
            /** Lines */
            lines: components["schemas"]["HunkLine"][];
        };
        /**
         * HunkLine
         * @description A line of the file.
         */
        HunkLine: {
            /**
             * Sign
             * @enum {string}
             */
            sign: " " | "-" | "+";
            /** Text */
            text: string;
        };
        /**
         * ItemToLabel
         * @description A verdict to label, without the verdict.
         */
        ItemToLabel: {
            item: components["schemas"]["LabelledItem"];
            /** Rubric */
            rubric: string;
            /** Turns */
            turns: components["schemas"]["LabelTurn"][];
        };
        /**
         * ItemsToLabel
         * @description The next verdicts to label.
         */
        ItemsToLabel: {
            /** Items */
            items: components["schemas"]["ItemToLabel"][];
        };
        /**
         * JudgeOfTrial
         * @description One metric with an LLM judge.
         */
        JudgeOfTrial: {
            /** Metric */
            metric: string;
            outcome: components["schemas"]["Outcome"];
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Badge */
            badge: string;
            failure: components["schemas"]["CausePart"] | null;
            /** Cost */
            cost: number | null;
            /** Tokens */
            tokens: number;
            /** Ballots */
            ballots: components["schemas"]["BallotPart"][];
        };
        /**
         * JudgePart
         * @description The LLM judge of a metric.
         */
        JudgePart: {
            /** Metric */
            metric: string;
            /** Model */
            model: string;
            /** Prompt */
            prompt: string;
            /** Badge */
            badge: string;
            /** Void */
            void: boolean;
        };
        /**
         * JudgeRow
         * @description One judge: a metric, a model and a prompt.
         */
        JudgeRow: {
            /** Metric */
            metric: string;
            /** Model */
            model: string;
            /** Prompt */
            prompt: string;
            /**
             * Standing
             * @enum {string}
             */
            standing: "calibrated" | "chance" | "void" | "unknown";
            /** Void */
            void: string[];
            calibration: components["schemas"]["CalibrationPart"] | null;
            /** Runs */
            runs: number;
            /** Last Run */
            last_run: string | null;
            /** Last At */
            last_at: number | null;
            /** Last Agent */
            last_agent: string;
            /** Labels */
            labels: number;
        };
        /**
         * JudgedClass
         * @description The mutants of one class of faults that a judge decided.
         */
        JudgedClass: {
            /** Label */
            label: string;
            /** Family */
            family: string;
            /** Is Agent */
            is_agent: boolean;
            noticed: components["schemas"]["Share"];
        };
        /**
         * JudgedLine
         * @description The result of the case in one scoring of its run.
         */
        JudgedLine: {
            /** Number */
            number: number;
            /** Created At */
            created_at: number;
            /** Criteria */
            criteria: string;
            outcome: components["schemas"]["Outcome"];
            /** Reason */
            reason: string;
            /** Metrics */
            metrics: components["schemas"]["JudgedMetric"][];
        };
        /**
         * JudgedMetric
         * @description A metric in another scoring.
         */
        JudgedMetric: {
            /** Name */
            name: string;
            outcome: components["schemas"]["Outcome"];
            /** Held */
            held: string;
        };
        /**
         * JudgesPage
         * @description The votes of all LLM judges on a trial.
         */
        JudgesPage: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Judges */
            judges: components["schemas"]["JudgeOfTrial"][];
            /** Labels */
            labels: components["schemas"]["LabelPart"][];
        };
        /**
         * KnownJudgesPage
         * @description All known judges.
         */
        KnownJudgesPage: {
            /** Items */
            items: components["schemas"]["JudgeRow"][];
            /** Runs */
            runs: number;
        };
        /**
         * LabelPart
         * @description A person's label of a trial, of one of its turns, or of one rubric.
         */
        LabelPart: {
            /** Metric */
            metric: string;
            /** Turn */
            turn: number | null;
            /** Rubric Id */
            rubric_id: string;
            /** Passes */
            passes: boolean;
            /** Note */
            note: string;
            /** Labeller */
            labeller: string;
            /** Labelled At */
            labelled_at: number;
        };
        /**
         * LabelToPut
         * @description The label that a person gives.
         */
        LabelToPut: {
            /** Passes */
            passes: boolean;
            /** Turn */
            turn?: number | null;
            /**
             * Rubric Id
             * @default
             */
            rubric_id: string;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Labeller
             * @default
             */
            labeller: string;
            /** Replaces */
            replaces?: number | null;
        };
        /**
         * LabelTurn
         * @description A turn up to the one to label.
         */
        LabelTurn: {
            user: components["schemas"]["Clip"];
            /** Calls */
            calls: string[];
            answer: components["schemas"]["Clip"];
            expected: components["schemas"]["Clip"] | null;
        };
        /**
         * LabelledItem
         * @description The place of a verdict that a person labels.
         */
        LabelledItem: {
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Turn */
            turn: number | null;
            /** Rubric Id */
            rubric_id: string;
        };
        /**
         * LabelledText
         * @description A text with its label.
         */
        LabelledText: {
            /** Label */
            label: string;
            /** Text */
            text: string;
        };
        /**
         * LabellerPart
         * @description A person with the number of labels.
         */
        LabellerPart: {
            /** Name */
            name: string;
            /** Labels */
            labels: number;
        };
        /**
         * LabellingPage
         * @description The labels of one judge's verdicts in a run.
         */
        LabellingPage: {
            /** Run Id */
            run_id: string;
            /** Metric */
            metric: string;
            /** Description */
            description: string;
            /** Model */
            model: string;
            /** Unit */
            unit: string;
            /** Verdicts */
            verdicts: number;
            /** Unlabelled */
            unlabelled: number;
            /** To Second */
            to_second: number;
            /** Labellers */
            labellers: components["schemas"]["LabellerPart"][];
            progress: components["schemas"]["ProgressPart"];
            /** Pairs */
            pairs: components["schemas"]["PairPart"][];
            /** Disputes */
            disputes: components["schemas"]["DisputePart"][];
            /** Misses */
            misses: components["schemas"]["MissPart"][];
            calibration: components["schemas"]["CalibrationPart"] | null;
            /** Current */
            current: boolean;
        };
        /**
         * LiveEnd
         * @description No process executes the run any more: event `finished`.
         */
        LiveEnd: {
            /** Run Id */
            run_id: string;
            state: components["schemas"]["RunState"];
            /** Outcome */
            outcome: string | null;
            /** Stopped By */
            stopped_by: string;
            /** Failure */
            failure: string;
        };
        /**
         * LiveEvents
         * @description The data of each event of a run, by its name.
         */
        LiveEvents: {
            progress: components["schemas"]["LiveProgress"];
            case: components["schemas"]["CaseRow"];
            finished: components["schemas"]["LiveEnd"];
            broken: components["schemas"]["LiveEnd"];
        };
        /**
         * LiveProgress
         * @description The progress of a run: event `progress`.
         */
        LiveProgress: {
            /** Run Id */
            run_id: string;
            state: components["schemas"]["RunState"];
            /** Cases */
            cases: number;
            /** Done */
            done: number;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Trials */
            trials: number;
            /** Trials Planned */
            trials_planned: number;
            /** Rate */
            rate: number | null;
            /** Seconds Left */
            seconds_left: number | null;
            /** Seconds */
            seconds: number;
            /** In Flight */
            in_flight: number;
            /** Lost Workers */
            lost_workers: string;
            /** Spent */
            spent: number | null;
            /** Spent Of */
            spent_of: number;
            /** Worker */
            worker: string;
            /** Ours */
            ours: boolean;
        };
        /**
         * LoneCase
         * @description A case that only one run has, or whose content differs.
         */
        LoneCase: {
            /** Name */
            name: string;
            /** Base Position */
            base_position: number | null;
            /** Candidate Position */
            candidate_position: number | null;
        };
        /**
         * ManifestPart
         * @description The manifest: what exactly was run.
         */
        ManifestPart: {
            /** Reference */
            reference: string | null;
            /** Agent Version */
            agent_version: string | null;
            /** Commit */
            commit: string | null;
            /** Command */
            command: string[];
            /** Folder */
            folder: string;
            /** Versions */
            versions: {
                [key: string]: string;
            };
            /** Models */
            models: string[];
            /** Workers */
            workers: string;
            /** Lost Workers */
            lost_workers: string;
            /** Imported From */
            imported_from: string;
        };
        /**
         * MarkedText
         * @description A text in pieces.
         */
        MarkedText: {
            /** Pieces */
            pieces: components["schemas"]["Piece"][];
            /** Left Out */
            left_out: number;
        };
        /**
         * MatrixCell
         * @description One case in one run.
         */
        MatrixCell: {
            /** Position */
            position: number;
            outcome: components["schemas"]["Outcome"];
            /** Strip */
            strip: string;
            /** Score */
            score: number | null;
            /** Metric */
            metric: string;
            /** Why */
            why: string;
        };
        /**
         * MatrixHead
         * @description One of the runs: a column.
         */
        MatrixHead: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            /** Commit */
            commit: string | null;
            /** Started At */
            started_at: number;
            outcome: components["schemas"]["Outcome"] | null;
            /** Num Runs */
            num_runs: number;
            passed: components["schemas"]["PassedShare"];
            pass_hat: components["schemas"]["MeanFigure"] | null;
            /** K */
            k: number;
            seconds: components["schemas"]["MeanFigure"] | null;
            tokens: components["schemas"]["MeanFigure"] | null;
            /** Cost */
            cost: number | null;
        };
        /**
         * MatrixPage
         * @description Runs side by side.
         */
        MatrixPage: {
            /** Runs */
            runs: components["schemas"]["MatrixHead"][];
            /** Rows */
            rows: components["schemas"]["MatrixRow"][];
            /** Different */
            different: number;
        };
        /**
         * MatrixRow
         * @description One case.
         */
        MatrixRow: {
            /** Eval Set Id */
            eval_set_id: string;
            /** Eval Id */
            eval_id: string;
            /** Metric */
            metric: string;
            /** Differs */
            differs: boolean;
            /** Cells */
            cells: (components["schemas"]["MatrixCell"] | null)[];
        };
        /**
         * MeanFigure
         * @description A mean with its 95 % confidence interval, which is null for a single case.
         */
        MeanFigure: {
            /** Value */
            value: number;
            /** Standard Error */
            standard_error: number | null;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Cases */
            cases: number;
            /** Values */
            values: number;
        };
        /**
         * MeasuredLine
         * @description One measure of both runs, paired by case.
         */
        MeasuredLine: {
            /** Name */
            name: string;
            /** Label */
            label: string;
            /** Decides */
            decides: boolean;
            /** Figure */
            figure: boolean;
            /** Lower Is Better */
            lower_is_better: boolean;
            /** Base */
            base: number;
            /** Candidate */
            candidate: number;
            /** Difference */
            difference: number;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Base Text */
            base_text: string;
            /** Candidate Text */
            candidate_text: string;
            /** Difference Text */
            difference_text: string;
            /** Interval Text */
            interval_text: string;
            /** P Value */
            p_value: number;
            /** Confidence */
            confidence: number;
            /** Pairs */
            pairs: number;
            /** Known */
            known: number;
            /** Apart */
            apart: boolean;
            /** Too Few */
            too_few: boolean;
            /** Verdict */
            verdict: string;
        };
        /**
         * MessagePart
         * @description A text of an agent before its answer.
         */
        MessagePart: {
            /** Author */
            author: string;
            text: components["schemas"]["Clip"];
            /** Thought */
            thought: boolean;
            /** Before */
            before: number;
        };
        /**
         * MetricInfo
         * @description The facts about a metric, without running it.
         */
        MetricInfo: {
            /** Name */
            name: string;
            /** Description */
            description: string;
            /** Kind */
            kind: string;
            /** Needs */
            needs: string[];
            /** Asks Judge */
            asks_judge: boolean;
            /** Gates */
            gates: boolean;
            /** Minimum */
            minimum: number | null;
            /** Maximum */
            maximum: number | null;
            /** Default Threshold */
            default_threshold: number | null;
            /** Options */
            options: components["schemas"]["OptionFacts"][];
            /** Example */
            example: {
                [key: string]: unknown;
            } | null;
            /** Source */
            source: string;
        };
        /**
         * MetricLine
         * @description A metric's score of the case.
         */
        MetricLine: {
            /** Name */
            name: string;
            outcome: components["schemas"]["Outcome"];
            /** Gate */
            gate: boolean;
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Held */
            held: string;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Reason */
            reason: string;
            /** Badge */
            badge: string;
            /** Trials */
            trials: components["schemas"]["MetricTrial"][];
        };
        /**
         * MetricPart
         * @description One metric over all cases.
         */
        MetricPart: {
            /** Name */
            name: string;
            /** Short */
            short: string;
            /** Gate */
            gate: boolean;
            /** Thresholds */
            thresholds: number[];
            mean: components["schemas"]["MeanFigure"] | null;
            /** Scored */
            scored: number;
            /** Missed */
            missed: number;
            /** Errors */
            errors: number;
            change: components["schemas"]["MeanFigure"] | null;
        };
        /**
         * MetricTrial
         * @description A metric's score of one trial.
         */
        MetricTrial: {
            /** Score */
            score: number | null;
            outcome: components["schemas"]["Outcome"];
        };
        /**
         * MetricsPage
         * @description Every metric.
         */
        MetricsPage: {
            /** Items */
            items: components["schemas"]["MetricInfo"][];
            /** Judge */
            judge: string;
        };
        /**
         * MissPart
         * @description A verdict of the judge that differs from the label that counts; its case is not held out.
         */
        MissPart: {
            item: components["schemas"]["LabelledItem"];
            /** Passes */
            passes: boolean;
            /** Note */
            note: string;
            reason: components["schemas"]["Clip"];
        };
        /**
         * MoneyPart
         * @description The usage of models for one purpose.
         */
        MoneyPart: {
            /** Purpose */
            purpose: string;
            /** Name */
            name: string;
            /** Cost */
            cost: number | null;
            /** Text */
            text: string;
            /** Calls */
            calls: number;
            /** Cached */
            cached: number;
            /** Tokens */
            tokens: number;
            /** Unpriced */
            unpriced: string[];
        };
        /**
         * MutantLine
         * @description A mutant of the case, or an agent that does nothing.
         */
        MutantLine: {
            /** Number */
            number: number;
            /** Label */
            label: string;
            /** Family */
            family: string;
            /** Is Agent */
            is_agent: boolean;
            /** Fault */
            fault: string;
            /** Turn */
            turn: number | null;
            fate: components["schemas"]["Fate"];
            /** Metrics */
            metrics: string[];
            /** Reason */
            reason: string;
        };
        /**
         * NewCaseForm
         * @description The new case that a conversation becomes.
         */
        NewCaseForm: {
            /** Eval Id */
            eval_id: string;
            /** Eval Set */
            eval_set?: string | null;
            /** New Set */
            new_set?: string | null;
            /**
             * Folder
             * @default
             */
            folder: string;
            /**
             * Form
             * @default json
             */
            form: string;
            /**
             * Final State
             * @default false
             */
            final_state: boolean;
        };
        /**
         * NewChat
         * @description A new conversation.
         */
        NewChat: {
            /** Agent */
            agent: string;
            /**
             * State
             * @default {}
             */
            state: {
                [key: string]: unknown;
            };
            /**
             * App Name
             * @default
             */
            app_name: string;
            /**
             * User Id
             * @default
             */
            user_id: string;
        };
        /**
         * NewEvalSet
         * @description A new set.
         */
        NewEvalSet: {
            /** Name */
            name: string;
            /**
             * Folder
             * @default
             */
            folder: string;
            /**
             * Form
             * @default json
             * @enum {string}
             */
            form: "json" | "yaml" | "lines";
        };
        /**
         * NewMessage
         * @description A message of the user: a text, or the response to an open call.
         */
        NewMessage: {
            /**
             * Text
             * @default
             */
            text: string;
            answer?: components["schemas"]["ToolAnswer"] | null;
        };
        /**
         * NotePart
         * @description A sentence with its label.
         */
        NotePart: {
            /** Label */
            label: string;
            /** Text */
            text: string;
        };
        /**
         * NotesPage
         * @description The notes of a run.
         */
        NotesPage: {
            /** Warnings */
            warnings: string[];
            /** At Fault */
            at_fault: components["schemas"]["Rate"][];
            /** Fault Kinds */
            fault_kinds: {
                [key: string]: number;
            };
            /** P95 Turn */
            p95_turn: number | null;
        };
        /**
         * OptionFacts
         * @description One option of a metric's criterion.
         */
        OptionFacts: {
            /** Name */
            name: string;
            /** Meaning */
            meaning: string;
            /** Required */
            required: boolean;
            /** Json Schema */
            json_schema: {
                [key: string]: unknown;
            };
        };
        /**
         * Outcome
         * @description How something ended. Only *passed* is green.
         * @enum {string}
         */
        Outcome: "passed" | "failed" | "error" | "inconclusive" | "skipped" | "not_run" | "not_applicable" | "informational";
        /**
         * PairLine
         * @description One step of the baseline, of the candidate, or of both.
         */
        PairLine: {
            kind: components["schemas"]["DiffKind"];
            /** Turn */
            turn: number;
            /** What */
            what: string;
            base: components["schemas"]["MarkedText"] | null;
            candidate: components["schemas"]["MarkedText"] | null;
        };
        /**
         * PairPage
         * @description Two trials of one case.
         */
        PairPage: {
            /** Name */
            name: string;
            /** Sentence */
            sentence: string;
            base: components["schemas"]["PairSide"];
            candidate: components["schemas"]["PairSide"];
            /** Turn */
            turn: number | null;
            /** Alike */
            alike: number;
            /** Lines */
            lines: components["schemas"]["PairLine"][];
            /** Reasons */
            reasons: components["schemas"]["ReasonLine"][];
            /** Command */
            command: string;
        };
        /**
         * PairPart
         * @description Two people who labelled the same verdicts.
         */
        PairPart: {
            /** First */
            first: string;
            /** Second */
            second: string;
            /** Both Pass */
            both_pass: number;
            /** Both Fail */
            both_fail: number;
            /** Differ */
            differ: number;
            kappa: components["schemas"]["FigurePart"];
        };
        /**
         * PairSide
         * @description The trial of one of the runs.
         */
        PairSide: {
            run: components["schemas"]["ComparedRunPart"];
            /** Position */
            position: number;
            /** Number */
            number: number | null;
            /** Trial */
            trial: string;
            outcome: components["schemas"]["Outcome"];
        };
        /**
         * PassK
         * @description The estimated probability that `k` trials of a case all pass (`hat`), and that at least one passes (`at`).
         */
        PassK: {
            /** K */
            k: number;
            hat: components["schemas"]["MeanFigure"] | null;
            at: components["schemas"]["MeanFigure"] | null;
        };
        /**
         * PassedCases
         * @description How many cases of a run passed; each of them was run.
         */
        PassedCases: {
            /** Count */
            count: number;
            /** Of */
            of: number;
        };
        /**
         * PassedShare
         * @description The share of the cases of a run that passed; without a rate if cases are not run, or a set could not be run.
         */
        PassedShare: {
            /** Count */
            count: number;
            /** Of */
            of: number;
            /** Rate */
            rate: number | null;
            /** Low */
            low: number;
            /** High */
            high: number;
            /** Unread Sets */
            unread_sets: number;
        };
        /**
         * PassedTrials
         * @description How many trials passed, with the interval of their share.
         */
        PassedTrials: {
            /** Passed */
            passed: number;
            /** Of */
            of: number;
            /** Low */
            low: number;
            /** High */
            high: number;
            /** Confidence */
            confidence: number;
            /** Flaky */
            flaky: boolean;
        };
        /**
         * Piece
         * @description A piece of text; `changed`: the two sides differ here.
         */
        Piece: {
            /** Text */
            text: string;
            /** Changed */
            changed: boolean;
        };
        /**
         * PlayedPart
         * @description The simulated user.
         */
        PlayedPart: {
            /** Simulator */
            simulator: string;
            /** Model */
            model: string;
            /** Opening */
            opening: number | null;
            /** Ended */
            ended: string;
            /** Faults */
            faults: components["schemas"]["NotePart"][];
        };
        /**
         * ProblemNote
         * @description An error or a warning about a file.
         */
        ProblemNote: {
            /** Severity */
            severity: string;
            /** File */
            file: string | null;
            /** Line */
            line: number;
            /** Column */
            column: number;
            /** Field */
            field: string;
            /** Message */
            message: string;
            /** Hint */
            hint: string;
            /** Position */
            position: number | null;
        };
        /**
         * ProgressPart
         * @description The labels so far, of each verdict the label that counts.
         */
        ProgressPart: {
            /** Passes */
            passes: number;
            /** Fails */
            fails: number;
            /** Other Labels */
            other_labels: number;
            accuracy: components["schemas"]["FigurePart"];
            tpr: components["schemas"]["FigurePart"];
            tnr: components["schemas"]["FigurePart"];
            kappa: components["schemas"]["FigurePart"];
            /** Aim */
            aim: number;
            /** Wanted Passes */
            wanted_passes: number;
            /** Wanted Fails */
            wanted_fails: number;
            /** Wanted */
            wanted: number;
        };
        /**
         * PromptPage
         * @description The prompt of a judge.
         */
        PromptPage: {
            /** Metric */
            metric: string;
            /** Turn */
            turn: number | null;
            /** Messages */
            messages: components["schemas"]["AskedMessage"][];
            /** Same */
            same: boolean;
            /** Note */
            note: string;
        };
        /**
         * PurposeFigures
         * @description The estimated usage of models for one purpose; null: unknown.
         */
        PurposeFigures: {
            /** Purpose */
            purpose: string;
            calls: components["schemas"]["EstimatedFigure"] | null;
            tokens: components["schemas"]["EstimatedFigure"] | null;
            cost: components["schemas"]["EstimatedFigure"] | null;
        };
        /**
         * Rate
         * @description How often the agent or the simulated user was at fault in simulated conversations.
         */
        Rate: {
            /** Who */
            who: string;
            share: components["schemas"]["Share"];
        };
        /**
         * ReasonLine
         * @description The reasons that a deciding metric gave for each trial.
         */
        ReasonLine: {
            /** Metric */
            metric: string;
            /** Base */
            base: string;
            /** Candidate */
            candidate: string;
        };
        /**
         * RunChangePart
         * @description What changed for one eval set between a run and the previous run of the same agent.
         */
        RunChangePart: {
            /** Agent */
            agent: string;
            /** Eval Set Id */
            eval_set_id: string;
            /** Before */
            before: string;
            /** First */
            first: string;
            changed_by: components["schemas"]["ChangedBy"];
            /** Text */
            text: string;
            /** Command */
            command: string;
        };
        /**
         * RunManagement
         * @description What can be done with a run, and what that would mean.
         */
        RunManagement: {
            /**
             * Name
             * @default
             */
            name: string;
            /**
             * Note
             * @default
             */
            note: string;
            /**
             * Starred
             * @default false
             */
            starred: boolean;
            /** Baselines */
            baselines: string[];
            /** Why No Baseline */
            why_no_baseline: string;
            /** Why Not Deleted */
            why_not_deleted: string;
            /** Trials */
            trials: number;
            /** Scorings */
            scorings: number;
            /** Labels */
            labels: number;
        };
        /**
         * RunPage
         * @description One scoring of one run.
         */
        RunPage: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Agent */
            agent: string;
            state: components["schemas"]["RunState"];
            outcome: components["schemas"]["Outcome"];
            /** Sentence */
            sentence: string;
            /** Exit Code */
            exit_code: number;
            /** Created At */
            created_at: number;
            /** Duration */
            duration: number;
            /** Judging Duration */
            judging_duration: number | null;
            /** Interrupted */
            interrupted: boolean;
            /** Stopped By */
            stopped_by: string;
            /** Failure */
            failure: string;
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Trials */
            trials: {
                [key: string]: number;
            };
            /** Planned Trials */
            planned_trials: number;
            pass_rate: components["schemas"]["PassedShare"];
            /** Flaky */
            flaky: number;
            /** Pass K */
            pass_k: components["schemas"]["PassK"][];
            /** Metrics */
            metrics: components["schemas"]["MetricPart"][];
            /** Causes */
            causes: components["schemas"]["CauseGroup"][];
            /** Figures */
            figures: string[];
            /** Cost */
            cost: number | null;
            /** Cost Text */
            cost_text: string;
            /** Money */
            money: components["schemas"]["MoneyPart"][];
            /** Judges */
            judges: components["schemas"]["JudgePart"][];
            /** Sets */
            sets: components["schemas"]["SetPart"][];
            /** Warnings */
            warnings: string[];
            /** Judgings */
            judgings: components["schemas"]["ScoringPart"][];
            /** Judging */
            judging: number;
            manifest: components["schemas"]["ManifestPart"];
            against: components["schemas"]["Against"] | null;
        };
        /**
         * RunRequest
         * @description A request to start with: that of a stored run, or for an eval set.
         */
        RunRequest: {
            /** Request */
            request: {
                [key: string]: unknown;
            };
            /** Notes */
            notes: string[];
            /** Run Id */
            run_id: string | null;
            /** Eval Set */
            eval_set: string | null;
        };
        /**
         * RunRow
         * @description A run in a list.
         */
        RunRow: {
            /** Run Id */
            run_id: string;
            /** Name */
            name: string;
            /** Note */
            note: string;
            /** Starred */
            starred: boolean;
            /** Short */
            short: string;
            state: components["schemas"]["RunState"];
            outcome: components["schemas"]["Outcome"] | null;
            /** Standing */
            standing: string;
            /** Created At */
            created_at: number;
            /** Agent */
            agent: string;
            /** Commit */
            commit: string | null;
            /** Sets */
            sets: string[];
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Counts */
            counts: {
                [key: string]: number;
            };
            /** Trials */
            trials: number;
            /** In Flight */
            in_flight: number;
            pass_rate: components["schemas"]["PassedShare"];
            /** Duration */
            duration: number;
            /** Cost */
            cost: number | null;
            /** Cost Text */
            cost_text: string;
            /** Stopped By */
            stopped_by: string;
            /** Interrupted */
            interrupted: boolean;
            /** Judgings */
            judgings: number;
            /** Judging */
            judging: number;
            /** Imported From */
            imported_from: string;
            /** Trend */
            trend: components["schemas"]["PassedCases"][];
        };
        /**
         * RunState
         * @description The state of a run.
         * @enum {string}
         */
        RunState: "running" | "unfinished" | "finished";
        /**
         * RunsPage
         * @description Some of the runs.
         */
        RunsPage: {
            /** Items */
            items: components["schemas"]["RunRow"][];
            /** Next */
            next: string | null;
            /** Total */
            total: number;
        };
        /**
         * ScorePart
         * @description One metric's score of a turn, or of the trial as a whole.
         */
        ScorePart: {
            /** Name */
            name: string;
            outcome: components["schemas"]["Outcome"];
            /** Gate */
            gate: boolean;
            /** Score */
            score: number | null;
            /** Threshold */
            threshold: number | null;
            /** Reason */
            reason: string;
            /** Warning */
            warning: string;
            /** Findings */
            findings: components["schemas"]["FindingPart"][];
            /** Notes */
            notes: components["schemas"]["NotePart"][];
            failure: components["schemas"]["CausePart"] | null;
        };
        /**
         * ScoringPart
         * @description One scoring of the run's evidence.
         */
        ScoringPart: {
            /** Number */
            number: number;
            /** Created At */
            created_at: number;
            /** Config Sources */
            config_sources: string[];
            /** Finished */
            finished: boolean;
            /** Counts */
            counts: boolean;
        };
        /**
         * SelectedCases
         * @description Several cases of one set.
         */
        SelectedCases: {
            /** Cases */
            cases: components["schemas"]["CaseVersion"][];
        };
        /**
         * Series
         * @description One metric over the runs of an agent.
         */
        Series: {
            /** Agent */
            agent: string;
            /** Name */
            name: string;
            /** Decides */
            decides: boolean;
            /** Points */
            points: components["schemas"]["SeriesPoint"][];
        };
        /**
         * SeriesPoint
         * @description A metric in one run.
         */
        SeriesPoint: {
            /** Run Id */
            run_id: string;
            /** Score */
            score: number | null;
            /** Low */
            low: number | null;
            /** High */
            high: number | null;
            /** Threshold */
            threshold: number | null;
            outcome: components["schemas"]["Outcome"];
            /** Count */
            count: number;
            /** Not Run */
            not_run: number;
            /** Unread Sets */
            unread_sets: number;
        };
        /**
         * SetFile
         * @description An eval set to choose.
         */
        SetFile: {
            /** Path */
            path: string;
            /** Name */
            name: string;
        };
        /**
         * SetPart
         * @description One eval set of the run.
         */
        SetPart: {
            /** Eval Set Id */
            eval_set_id: string;
            /** Name */
            name: string;
            /** Path */
            path: string | null;
            /** Cases */
            cases: number;
            /** Num Runs */
            num_runs: number;
            /** Config Source */
            config_source: string;
            /** Criteria */
            criteria: {
                [key: string]: unknown;
            };
            /** Rule */
            rule: string;
            /** Metrics */
            metrics: string[];
            /** Left Out */
            left_out: {
                [key: string]: string;
            };
            /** Failure */
            failure: string;
            /** Pass K */
            pass_k: components["schemas"]["PassK"][];
        };
        /**
         * Share
         * @description `count` of `of` as a rate from 0 to 1 with its 95 % Wilson interval; `of` = 0 has no rate.
         */
        Share: {
            /** Count */
            count: number;
            /** Of */
            of: number;
            /** Rate */
            rate: number | null;
            /** Low */
            low: number;
            /** High */
            high: number;
        };
        /**
         * SpanPart
         * @description One bar of the waterfall.
         */
        SpanPart: {
            /**
             * Kind
             * @enum {string}
             */
            kind: "turn" | "agent" | "model" | "tool" | "step" | "event";
            /** Name */
            name: string;
            /** Depth */
            depth: number;
            /** Turn */
            turn: number;
            /** Call */
            call: number | null;
            /** Author */
            author: string;
            /** Start */
            start: number | null;
            /** Seconds */
            seconds: number | null;
            /**
             * Timing
             * @enum {string}
             */
            timing: "clock" | "events" | "span" | "none";
            /** Failed */
            failed: boolean;
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
            /** Cost */
            cost: number | null;
            request: components["schemas"]["Clip"] | null;
            response: components["schemas"]["Clip"] | null;
            error: components["schemas"]["Clip"] | null;
            /** Attributes */
            attributes: components["schemas"]["AttributePart"][];
        };
        /**
         * SpansPage
         * @description A trial over time.
         */
        SpansPage: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Seconds */
            seconds: number | null;
            /** Note */
            note: string;
            /** Spans */
            spans: components["schemas"]["SpanPart"][];
            /** Cut */
            cut: string[];
            /** Agents */
            agents: components["schemas"]["AgentPart"][];
        };
        /**
         * StartCase
         * @description A case to choose.
         */
        StartCase: {
            /** Eval Id */
            eval_id: string;
            /** Tags */
            tags: string[];
            /** Message */
            message: string;
        };
        /**
         * StartPage
         * @description The choices for a new run, and the defaults.
         */
        StartPage: {
            /** Sets */
            sets: components["schemas"]["SetFile"][];
            /** Configs */
            configs: string[];
            /** Config */
            config: string | null;
            /** Num Runs */
            num_runs: number;
            /** Concurrency */
            concurrency: number;
            /** Max Cost */
            max_cost: number | null;
        };
        /**
         * StartProblem
         * @description One problem of a request.
         */
        StartProblem: {
            /** Field */
            field: string;
            /** Message */
            message: string;
            /** Metric */
            metric: string;
        };
        /**
         * StartProblems
         * @description All problems of a request; nothing was started.
         */
        StartProblems: {
            /** Detail */
            detail: string;
            /** Problems */
            problems: components["schemas"]["StartProblem"][];
        };
        /**
         * StartRun
         * @description A new run. The project's settings, else the defaults of `proctor eval`, apply to fields that are left out.
         */
        StartRun: {
            /** Agent */
            agent: string;
            /** Eval Sets */
            eval_sets?: components["schemas"]["ChosenSet"][];
            /** Failed Of */
            failed_of?: string | null;
            /** Options Of */
            options_of?: string | null;
            /** Criteria */
            criteria?: {
                [key: string]: unknown;
            } | null;
            /** Limit */
            limit?: number | null;
            /** Tags */
            tags?: string[];
            /** Num Runs */
            num_runs?: number | null;
            /** Retry Errors */
            retry_errors?: number | null;
            /** Concurrency */
            concurrency?: number | null;
            /** Timeout */
            timeout?: number | null;
            /** Max Failures */
            max_failures?: number | null;
            /** Max Time */
            max_time?: number | null;
            /** Max Tokens */
            max_tokens?: number | null;
            /** Max Cost */
            max_cost?: number | null;
            /** Max Judge Calls */
            max_judge_calls?: number | null;
            /**
             * Allow Unknown Keys
             * @default false
             */
            allow_unknown_keys: boolean;
            /**
             * Allow Unasserted
             * @default false
             */
            allow_unasserted: boolean;
            /**
             * Warnings As Errors
             * @default false
             */
            warnings_as_errors: boolean;
            /** Config */
            config?: string | null;
            /** Metrics */
            metrics?: string[] | null;
            /**
             * No Judge
             * @default false
             */
            no_judge: boolean;
            /** Judge */
            judge?: string | null;
        };
        /**
         * StartSet
         * @description An eval set with its cases.
         */
        StartSet: {
            /** Path */
            path: string;
            /** Eval Set Id */
            eval_set_id: string;
            /** Cases */
            cases: components["schemas"]["StartCase"][];
            /** Problem */
            problem: string;
            /** Config */
            config: string | null;
        };
        /**
         * StartedRun
         * @description A run that was started.
         */
        StartedRun: {
            /** Run Id */
            run_id: string;
            /** Trials */
            trials: number;
            /** Command */
            command: string;
        };
        /**
         * StatePart
         * @description The final session state.
         */
        StatePart: {
            /** Known */
            known: boolean;
            /** Stated */
            stated: boolean;
            /** Rows */
            rows: components["schemas"]["StateRow"][];
        };
        /**
         * StateRow
         * @description One key of the final session state, or one inside of it.
         */
        StateRow: {
            /** Key */
            key: string;
            kind: components["schemas"]["DiffKind"] | null;
            expected: components["schemas"]["Clip"] | null;
            actual: components["schemas"]["Clip"] | null;
        };
        /**
         * StepPart
         * @description One step: the expected call, the actual one, or both.
         */
        StepPart: {
            kind: components["schemas"]["DiffKind"] | null;
            expected: components["schemas"]["MarkedText"] | null;
            actual: components["schemas"]["MarkedText"] | null;
            /** Author */
            author: string;
            response: components["schemas"]["Clip"] | null;
            /** Call */
            call: number | null;
            /** Expected Call */
            expected_call: number | null;
            /** Broken */
            broken: string[];
        };
        /**
         * SurvivorPart
         * @description A mutant that survives: the recorded conversation is what is expected, the mutant is the actual one.
         */
        SurvivorPart: {
            /** Number */
            number: number;
            /** Turns */
            turns: components["schemas"]["TurnPart"][];
            /** Recorded */
            recorded: number;
            /** Scores */
            scores: components["schemas"]["ScorePart"][];
            /** State */
            state: components["schemas"]["StateRow"][];
        };
        /**
         * TextDraft
         * @description The new text of a file.
         */
        TextDraft: {
            /** Text */
            text: string;
            /**
             * Unreadable May Be
             * @default false
             */
            unreadable_may_be: boolean;
        };
        /**
         * TextMatch
         * @description The cases whose conversations or reasons contain a text.
         */
        TextMatch: {
            /** Text */
            text: string;
            /** Positions */
            positions: number[];
        };
        /**
         * TextMatches
         * @description What a search in a run found.
         */
        TextMatches: {
            /** Items */
            items: components["schemas"]["TextMatch"][];
        };
        /**
         * ToolAnswer
         * @description The response of a long-running tool, which a person gives.
         */
        ToolAnswer: {
            /** Name */
            name: string;
            /** Call Id */
            call_id: string;
            /** Response */
            response: {
                [key: string]: unknown;
            };
        };
        /**
         * ToolError
         * @description An error of a tool, and the number of calls that returned it.
         */
        ToolError: {
            /** Text */
            text: string;
            /** Calls */
            calls: number;
        };
        /**
         * ToolFigures
         * @description The calls of one tool in all trials of a run.
         */
        ToolFigures: {
            /** Name */
            name: string;
            /** Calls */
            calls: number;
            /** Cases */
            cases: number;
            /** Timed */
            timed: number;
            /** Mean Seconds */
            mean_seconds: number | null;
            /** P95 Seconds */
            p95_seconds: number | null;
            /** Total Seconds */
            total_seconds: number | null;
            /** Failed */
            failed: number;
            /** Errors */
            errors: components["schemas"]["ToolError"][];
        };
        /**
         * TrendRun
         * @description One of the runs over which causes are counted.
         */
        TrendRun: {
            /** Run Id */
            run_id: string;
            /** Short */
            short: string;
            /** Created At */
            created_at: number;
            /** Failed */
            failed: number;
        };
        /**
         * TrialLine
         * @description One trial in the list of trials.
         */
        TrialLine: {
            /** Number */
            number: number;
            outcome: components["schemas"]["Outcome"];
            /** Reason */
            reason: string;
            /** Attempts */
            attempts: string[];
        };
        /**
         * TrialPage
         * @description One trial.
         */
        TrialPage: {
            /** Run Id */
            run_id: string;
            /** Position */
            position: number;
            /** Number */
            number: number;
            /** Trials */
            trials: number;
            outcome: components["schemas"]["Outcome"];
            /** Reason */
            reason: string;
            /** Facts */
            facts: string[];
            /** Attempts */
            attempts: string[];
            /** Notes */
            notes: string[];
            /** Kept */
            kept: boolean;
            /** Started At */
            started_at: number | null;
            /** Seconds */
            seconds: number | null;
            /** Session Id */
            session_id: string;
            /** Turns */
            turns: components["schemas"]["TurnPart"][];
            /** Scores */
            scores: components["schemas"]["ScorePart"][];
            state: components["schemas"]["StatePart"];
            failure: components["schemas"]["CausePart"] | null;
            played: components["schemas"]["PlayedPart"] | null;
            /** Command */
            command: string;
        };
        /**
         * TurnPart
         * @description One turn.
         */
        TurnPart: {
            /** Index */
            index: number;
            user: components["schemas"]["Clip"];
            /** Media */
            media: string[];
            /** Steps */
            steps: components["schemas"]["StepPart"][];
            /** Messages */
            messages: components["schemas"]["MessagePart"][];
            answer: components["schemas"]["AnswerPart"];
            /** Scores */
            scores: components["schemas"]["ScorePart"][];
            usage: components["schemas"]["UsagePart"];
            /** Authors */
            authors: string[];
            /** Notes */
            notes: components["schemas"]["NotePart"][];
            failure: components["schemas"]["CausePart"] | null;
            /** Differs */
            differs: boolean;
        };
        /**
         * TurningPart
         * @description The run in which a case got its present outcome.
         */
        TurningPart: {
            /** First */
            first: string;
            /** Before */
            before: string | null;
            /** Changed */
            changed: components["schemas"]["UnlikeLine"][];
            /** Caution */
            caution: string;
            /** Command */
            command: string;
        };
        /**
         * UndoName
         * @description The change to undo.
         */
        UndoName: {
            /** Undo */
            undo: string;
        };
        /**
         * UnlikeLine
         * @description A difference between the runs other than the agent's behaviour.
         */
        UnlikeLine: {
            /** What */
            what: string;
            /** Text */
            text: string;
            /** Expected */
            expected: boolean;
        };
        /**
         * UsagePart
         * @description The durations and tokens of a turn, as far as the agent reports them.
         */
        UsagePart: {
            /** Seconds */
            seconds: number | null;
            /** Model Seconds */
            model_seconds: number | null;
            /** Tool Seconds */
            tool_seconds: number | null;
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
            /** Total Tokens */
            total_tokens: number | null;
            /** Models */
            models: string[];
        };
        /** ValidationError */
        ValidationError: {
            /** Location */
            loc: (string | number)[];
            /** Message */
            msg: string;
            /** Error Type */
            type: string;
            /** Input */
            input?: unknown;
            /** Context */
            ctx?: Record<string, never>;
        };
        /**
         * VotePart
         * @description One vote.
         */
        VotePart: {
            /** Verdict */
            verdict: string;
            /** Passes */
            passes: boolean | null;
            /** Findings */
            findings: components["schemas"]["FindingPart"][];
            rationale: components["schemas"]["Clip"];
            /** Problem */
            problem: string;
            /** Answers */
            answers: components["schemas"]["Clip"][];
            /** Cached */
            cached: boolean;
            /** Cost */
            cost: number | null;
            /** Input Tokens */
            input_tokens: number | null;
            /** Output Tokens */
            output_tokens: number | null;
        };
        /**
         * CaseChange
         * @description What happened to one case, in the order in which cases are listed.
         * @enum {string}
         */
        proctor__schema__analysis__comparison__CaseChange: "now_fails" | "missing" | "now_in_error" | "now_passes" | "no_longer_in_error" | "fewer_pass" | "more_pass" | "within_noise";
        /**
         * CaseChange
         * @description One value of a case that would change.
         */
        proctor__web__pages__bless_changes__CaseChange: {
            /** Path */
            path: string;
            before: components["schemas"]["MarkedText"] | null;
            after: components["schemas"]["MarkedText"] | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    list_eval_sets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetList"];
                };
            };
        };
    };
    create_set: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEvalSet"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSet"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    get_eval_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    migrate_eval_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedSet"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_eval_set_head: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetHead"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    save_eval_set_head: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that was read: its ETag. */
                "if-match"?: string | null;
            };
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Draft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetHead"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    preview_eval_set_head: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Draft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CasePreview"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    list_eval_cases: {
        parameters: {
            query?: {
                offset?: number;
                limit?: number;
            };
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalCaseList"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case; any characters are allowed. */
                id: string;
            };
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalCasePage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    save_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case; any characters are allowed. */
                id: string;
            };
            header?: {
                /** @description The version that was read: its ETag. */
                "if-match"?: string | null;
            };
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Draft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseSaved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    add_eval_case: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Draft"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseSaved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    remove_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case; any characters are allowed. */
                id: string;
            };
            header?: {
                /** @description The version that was read: its ETag. */
                "if-match"?: string | null;
            };
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRemoved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    preview_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case; any characters are allowed. */
                id: string;
            };
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Draft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CasePreview"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    check_eval_case: {
        parameters: {
            query: {
                /** @description The id of the case; any characters are allowed. */
                id: string;
            };
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Draft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseChecked"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    remove_eval_cases: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SelectedCases"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRemoved"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    restore_eval_case: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoName"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetPage"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    get_eval_set_text: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetText"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    save_eval_set_text: {
        parameters: {
            query?: never;
            header?: {
                /** @description The version that was read: its ETag. */
                "if-match"?: string | null;
            };
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TextDraft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetText"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    check_eval_set_text: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                eval_set: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TextDraft"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvalSetText"];
                };
            };
            /** @description Comments would be lost, or the file cannot be changed in place. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description The file has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description Not a valid case. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseRefusal"];
                };
            };
        };
    };
    list_chats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatList"];
                };
            };
        };
    };
    open_chat: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewChat"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    close_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    send_message: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMessage"];
            };
        };
        responses: {
            /** @description Server-sent events: `entry` (ChatEntry), each with its number as id; the last one is of kind `end`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The agent is answering, or has lost its session. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_chat_events: {
        parameters: {
            query?: never;
            header?: {
                "last-event-id"?: string;
            };
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `entry` (ChatEntry), each with its number as id; the last one is of kind `end`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The agent is answering, or has lost its session. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    stop_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    undo_turn: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `entry` (ChatEntry), each with its number as id; the last one is of kind `end`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The agent is answering, or has lost its session. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    repeat_conversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `entry` (ChatEntry), each with its number as id; the last one is of kind `end`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
            /** @description The agent is answering, or has lost its session. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    save_chat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                chat: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCaseForm"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatSaved"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_about: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AboutPage"];
                };
            };
        };
    };
    list_runs: {
        parameters: {
            query?: {
                limit?: number;
                /** @description `next` of the previous page. */
                before?: string | null;
                /** @description The wildcards `*` and `?` are allowed. */
                agent?: string | null;
                /** @description An eval set's id, or its file. */
                set?: string | null;
                outcome?: components["schemas"]["Outcome"][] | null;
                state?: components["schemas"]["RunState"][] | null;
                /** @description Only runs with a star. */
                starred?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunsPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    start_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRun"];
            };
        };
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            /** @description All problems; nothing was run. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartProblems"];
                };
            };
        };
    };
    get_run: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
                /** @description Only what is known without reading every case of the run and of the one that it is compared with. */
                brief?: boolean;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    delete_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_run_notes: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NotesPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_case_extras: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CaseExtras"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_cause_trend: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CauseTrend"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    find_in_conversations: {
        parameters: {
            query: {
                text: string[];
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TextMatches"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    find_in_reasons: {
        parameters: {
            query: {
                text: string[];
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TextMatches"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    list_cases: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
                offset?: number;
                /** @description By default all; with `brief`, without a limit, all rows of a small run with their changes, else the first. */
                limit?: number | null;
                /** @description Only what is known without reading every case of the run and of the one that it is compared with. */
                brief?: boolean;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CasesPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_export: {
        parameters: {
            query: {
                /** @description As of `proctor export`. */
                format: "html" | "json" | "jsonl" | "csv" | "junit" | "markdown";
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_case: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CasePage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_trial: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrialPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_spans: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpansPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_judges: {
        parameters: {
            query?: {
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JudgesPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_prompt: {
        parameters: {
            query?: {
                /** @description From 0; by default the trial as a whole. */
                turn?: number | null;
                /** @description The number of the scoring; by default the one that counts. */
                judging?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
                metric: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_evidence: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    put_label: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
                metric: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LabelToPut"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabelPart"];
                };
            };
            /** @description The label has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    delete_label: {
        parameters: {
            query?: {
                turn?: number | null;
                rubric_id?: string;
                labeller?: string;
                labelled_at?: number | null;
            };
            header?: never;
            path: {
                run: string;
                /** @description The position of the case in its run, from 0. */
                position: number;
                /** @description The trial, from 0. */
                number: number;
                metric: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The label has changed. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_labelling: {
        parameters: {
            query?: {
                /** @description The name of the person; empty: without a name. */
                labeller?: string;
            };
            header?: never;
            path: {
                run: string;
                metric: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabellingPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    list_next: {
        parameters: {
            query?: {
                /** @description The name of the person; empty: without a name. */
                labeller?: string;
                limit?: number;
                /** @description Those that others have labelled, and this person has not. */
                second?: boolean;
            };
            header?: never;
            path: {
                run: string;
                metric: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemsToLabel"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    calibrate_judge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                metric: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CalibrationPart"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_management: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunManagement"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    put_annotation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnnotationChange"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunManagement"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    put_baseline: {
        parameters: {
            query?: never;
            header?: {
                /** @description The id of the run that this one replaces as the baseline. */
                "if-match"?: string | null;
            };
            path: {
                run: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunManagement"];
                };
            };
            /** @description The baseline is another run than the one that If-Match names. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description Replacing a baseline needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
        };
    };
    delete_baseline: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunManagement"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    preview_bless: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlessToPreview"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlessPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    bless_cases: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the preview. */
                "if-match"?: string | null;
            };
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlessToWrite"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlessedPage"];
                };
            };
            /** @description Comments would be lost. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
            /** @description A file has changed since the review. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
            /** @description A change needs If-Match. */
            428: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Detail"];
                };
            };
        };
    };
    get_run_events: {
        parameters: {
            query?: {
                judging?: number;
                /** @description All cases from the `start`, or only those decided from `now` on. */
                from?: "start" | "now";
            };
            header?: {
                /** @description The id of the last event that was received. */
                "last-event-id"?: string;
            };
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Server-sent events: `progress`, `case`, `finished` and `broken` with data as in LiveEvents; `reread`: events were missed, so request the cases again. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["LiveEvents"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    cancel_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cancelled"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    resume_run: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedRun"];
                };
            };
            /** @description Unprocessable Entity */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartProblems"];
                };
            };
        };
    };
    list_agents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentsPage"];
                };
            };
        };
    };
    list_metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricsPage"];
                };
            };
        };
    };
    get_start: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartPage"];
                };
            };
        };
    };
    get_start_set: {
        parameters: {
            query: {
                path: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartSet"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_repeated_run: {
        parameters: {
            query: {
                run: string;
                /** @description Only this case. */
                position?: number | null;
                /** @description Only the cases that did not pass. */
                failures?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunRequest"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_run_of_set: {
        parameters: {
            query: {
                /** @description The id of an eval set. */
                set: string;
                /** @description Only this case. */
                case?: string | null;
                /** @description Like this run. Default, or if the store lacks it: the newest one of the set. */
                run?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunRequest"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    estimate_run: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StartRun"];
            };
        };
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EstimatePage"];
                };
            };
            /** @description All problems; nothing was run. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartProblems"];
                };
            };
        };
    };
    list_baselines: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BaselinesPage"];
                };
            };
        };
    };
    get_comparison: {
        parameters: {
            query?: {
                /** @description As `candidate`, or the name of a baseline; by default `previous`. */
                base?: string | null;
                /** @description An id, the beginning of one, `latest` (the default), `latest~1` or `previous`. If neither run is named, the newest two that share cases. */
                candidate?: string | null;
                /** @description The drop of the pass rate that is tolerated; by default that of the command. */
                margin?: number | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_pair: {
        parameters: {
            query: {
                /** @description The eval set's id. */
                set: string;
                /** @description The case's id. */
                case: string;
                /** @description An id, the beginning of one, `latest`, `latest~1` or `previous`. */
                base?: string;
                /** @description An id, the beginning of one, `latest`, `latest~1` or `previous`. */
                candidate?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PairPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_matrix: {
        parameters: {
            query: {
                /** @description Names of runs, separated by commas. */
                runs: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MatrixPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_history: {
        parameters: {
            query?: {
                /** @description An eval set's id, or its file. */
                set?: string | null;
                /** @description The id of a case, or set/case. */
                case?: string | null;
                /** @description The wildcards `*` and `?` are allowed. */
                agent?: string | null;
                /** @description How many runs; 0: all. */
                limit?: number;
                /** @description Treat the runs of all agents as one history. */
                combine_agents?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_cost_intervals: {
        parameters: {
            query: {
                /** @description Ids of runs, newest first. */
                run: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CostIntervals"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    list_judges: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnownJudgesPage"];
                };
            };
        };
    };
    list_audits: {
        parameters: {
            query?: {
                limit?: number;
                /** @description `next` of the previous page. */
                before?: string | null;
                /** @description An eval set's id. */
                set?: string | null;
                /** @description Only the newest audits of the cases that this run used, with its config. */
                run?: string | null;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditsPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_audit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an audit, or the beginning of it. */
                audit: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditPage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
    get_audited_case: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of an audit, or the beginning of it. */
                audit: string;
                /** @description The position of the case, from 0. */
                position: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Successful Response */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditedCasePage"];
                };
            };
            /** @description Validation Error */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HTTPValidationError"];
                };
            };
        };
    };
}
