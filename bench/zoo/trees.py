# SPDX-License-Identifier: Apache-2.0
"""Pipelines of scikit-learn, trained on data drawn from a seed."""
import numpy as np
from sklearn import (cluster, decomposition, discriminant_analysis, ensemble,
                     gaussian_process, impute, linear_model, naive_bayes,
                     neighbors, neural_network, pipeline, preprocessing, svm,
                     tree)

from registry import model

SKLEARN = ("skl2onnx",)


def data(rows=300, columns=10):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns)).astype(np.float32)
    y = x[:, 0] * 2 + np.sin(3 * x[:, 1]) + x[:, 2] * x[:, 3]
    return x, y, (y > 0).astype(np.int64) + (y > 2)


PIPELINES = {
    "logistic": (linear_model.LogisticRegression, {}),
    "ridge": (linear_model.Ridge, {}),
    "lasso": (linear_model.Lasso, {}),
    "sgd_classifier": (linear_model.SGDClassifier, {}),
    "linear_svc": (svm.LinearSVC, {}),
    "svc": (svm.SVC, {}),
    "svr": (svm.SVR, {}),
    "decision_tree": (tree.DecisionTreeClassifier, {"max_depth": 6}),
    "tree_regressor": (tree.DecisionTreeRegressor, {"max_depth": 6}),
    "random_forest": (ensemble.RandomForestClassifier,
                      {"n_estimators": 30, "max_depth": 6}),
    "forest_regressor": (ensemble.RandomForestRegressor,
                         {"n_estimators": 30, "max_depth": 6}),
    "extra_trees": (ensemble.ExtraTreesClassifier,
                    {"n_estimators": 20, "max_depth": 6}),
    "gradient_boosting": (ensemble.GradientBoostingClassifier,
                          {"n_estimators": 20}),
    "hist_boosting": (ensemble.HistGradientBoostingRegressor,
                      {"max_iter": 20}),
    "ada_boost": (ensemble.AdaBoostClassifier, {"n_estimators": 10}),
    "isolation_forest": (ensemble.IsolationForest, {"n_estimators": 20}),
    "knn": (neighbors.KNeighborsClassifier, {}),
    "gaussian_nb": (naive_bayes.GaussianNB, {}),
    "mlp": (neural_network.MLPClassifier, {"hidden_layer_sizes": (32, 16),
                                           "max_iter": 50}),
    "lda": (discriminant_analysis.LinearDiscriminantAnalysis, {}),
    "kmeans": (cluster.KMeans, {"n_clusters": 5, "n_init": 3}),
    "pca": (decomposition.PCA, {"n_components": 4}),
    "gaussian_process": (gaussian_process.GaussianProcessRegressor, {}),
    "scaler": (preprocessing.RobustScaler, {}),
    "binarizer": (preprocessing.Binarizer, {}),
    "polynomial": (preprocessing.PolynomialFeatures, {}),
    "bins": (preprocessing.KBinsDiscretizer, {"encode": "ordinal",
                                              "quantile_method": "linear"}),
    "imputer": (impute.SimpleImputer, {}),
    "normalizer": (preprocessing.Normalizer, {}),
}
for _name, (_class, _more) in PIPELINES.items():
    @model("tabular", "sklearn_" + _name, SKLEARN)
    def _(cls=_class, more=_more):
        x, y, classes = data()
        last = cls(**more)
        if "random_state" in last.get_params():
            last.set_params(random_state=0)
        target = y if hasattr(last, "predict") and not hasattr(
            last, "classes_") and last.__class__.__name__.endswith(
            ("Regressor", "SVR", "Ridge", "Lasso")) else classes
        made = pipeline.make_pipeline(preprocessing.StandardScaler(), last)
        return made.fit(x, target), x[:8]
