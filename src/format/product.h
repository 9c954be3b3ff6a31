/* product.h: which of the two libraries is being built: one engine, two doors. */
#ifndef QP_FORMAT_PRODUCT_H
#define QP_FORMAT_PRODUCT_H

#if defined(QP_LIBCPROF)
#define QP_PRODUCT_ENVIRONMENT "CPROF"
#define QP_PRODUCT_SUFFIX      ".pcv"
#define QP_PRODUCT_COLLECT     "coverage"
#define QP_PRODUCT_IS_COVERAGE 1
#else
#define QP_PRODUCT_ENVIRONMENT "QPROF"
#define QP_PRODUCT_SUFFIX      ".qprof"
#define QP_PRODUCT_COLLECT     "profile"
#define QP_PRODUCT_IS_COVERAGE 0
#endif

#endif
